"""Write loop nests: open `nest_writer.py` first.

`lane_loop.py` writes the inner loop, `value_writer.py` the values, `reducers.py` and `accumulators.py` the reductions.
"""
