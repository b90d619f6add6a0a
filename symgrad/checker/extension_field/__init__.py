"""Values as fractions of kernels: real numbers that satisfy relations."""
