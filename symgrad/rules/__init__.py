"""The mathematics of rewriting as data: the rows of each phase, the normal form of sums and products, the pipeline."""
