"""Ctrl-C at the command line."""

from __future__ import annotations

import subprocess
import sys

_WHILE_IT_STARTS = """
import sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "symgrad.apps.cli.stop_gradients":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
import symgrad.apps.cli
"""

_WHILE_IT_WORKS = """
import sys
import symgrad.api.claims.verify as verify
from symgrad.apps.cli import main

def pressed(seconds):
    raise KeyboardInterrupt

verify.validate_seconds = pressed
main(["equal", "x", "x"])
"""


def test_it_ends_with_a_line_and_its_own_exit_code():
    for code in (_WHILE_IT_STARTS, _WHILE_IT_WORKS):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "symgrad: interrupted\n")
