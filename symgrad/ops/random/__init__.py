"""Random inputs: what is known of each family of distributions, one record each."""
