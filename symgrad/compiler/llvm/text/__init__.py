"""LLVM's text, written piece by piece."""
