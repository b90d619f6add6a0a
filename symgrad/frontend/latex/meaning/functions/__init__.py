"""Functions and operators with what they are applied to: scripts, primes, sums, derivatives, compositions."""
