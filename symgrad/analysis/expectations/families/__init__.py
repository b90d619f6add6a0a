"""Expectations and variances of programs with random inputs."""
