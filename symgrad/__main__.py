"""``python -m symgrad`` is the command line."""

from symgrad.apps.cli import main

if __name__ == "__main__":
    main(prog_name="symgrad")
