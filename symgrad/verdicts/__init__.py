"""The search for proofs and witnesses; `symgrad.proof` checks what it finds."""
