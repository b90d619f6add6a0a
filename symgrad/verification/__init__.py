"""The search for proofs and witnesses; `symgrad.checker` checks what it finds."""
