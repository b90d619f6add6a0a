"""What a verdict says beside yes and no, in words of the program."""
