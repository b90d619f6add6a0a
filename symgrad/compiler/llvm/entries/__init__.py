"""Small arrays: the loop that moves entries to lanes, around elementwise code. Open `entry_code.py` first."""
