"""Functions and operators with their arguments: scripts, primes, sums, derivatives, compositions."""
