"""The kinds of cases, a module for each neighbourhood."""
