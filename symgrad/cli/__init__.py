"""The command line: ``symgrad derive | explain | compile | run | demo``.

Exit codes: 0 done; 1 the program or a value is wrong (the message says where); 2 the command line itself is
wrong; 3 a file cannot be read or written; 4 a fault in symgrad (please report it).
"""

from symgrad.cli.main import main

__all__ = ["main"]
