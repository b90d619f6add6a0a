"""Write array programs as C99: translate LLVM functions of one lane to loops and branches. Open `program.py` first."""
