"""Call kernels: directly, or in threads, after checks of the arguments. Open `direct.py` first."""
