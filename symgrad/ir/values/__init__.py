"""Values: what enters an evaluation, what comes out, and arrays of other libraries."""
