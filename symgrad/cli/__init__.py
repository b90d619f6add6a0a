"""The command line: ``symgrad derive | explain | compile | run | verify | equal | check | demo``.

Exit codes: 0 done; 1 the program or a value is wrong (the message says where); 2 the command line itself is
wrong; 3 a file cannot be read or written; 4 a fault in symgrad (please report it); 130 it was interrupted (Ctrl-C);
141 nobody reads its output any more. The commands that end with a verdict: 0 proved; 5 refuted; 6 supported;
7 undecided.
"""

from symgrad.cli import verdicts  # registers its commands
from symgrad.cli.main import main

__all__ = ["main", "verdicts"]
