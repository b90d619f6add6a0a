"""Parts of the search for stop_gradients: derivative paths (`paths`), exact points, cuts in floats, and proofs."""
