"""The command line: ``symgrad derive | explain | effective | lint | compile | run``, and so on.

Exit codes: 0 done; 1 the program or a value is wrong (the message says where); 2 the command line itself is
wrong; 3 a file cannot be read or written; 4 a fault in symgrad (please report it); 130 it was interrupted (Ctrl-C);
141 nobody reads its output any more. The commands that end with a verdict: 0 proved; 5 refuted; 6 supported;
7 undecided. lint ends with 1 also where it finds an error or a warning.
"""

import sys

try:
    from symgrad.apps.cli import audit, lint, stop_gradients, verdicts  # they register their commands
    from symgrad.apps.cli.main import main
    from symgrad.apps.web.command import serve
except KeyboardInterrupt:  # Ctrl-C during the imports ends without a traceback, as it does later
    sys.stderr.write("symgrad: interrupted\n")
    sys.exit(130)

main.add_command(serve)

__all__ = ["audit", "lint", "main", "serve", "stop_gradients", "verdicts"]
