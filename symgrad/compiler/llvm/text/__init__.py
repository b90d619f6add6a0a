"""LLVM IR as records that are printed as text: open `module.py` first."""
