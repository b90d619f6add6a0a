"""Is this formula equal to that one?"""
