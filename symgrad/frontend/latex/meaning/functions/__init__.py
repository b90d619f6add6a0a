"""Functions with what they are applied to: with scripts, primes, in compositions."""
