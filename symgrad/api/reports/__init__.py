"""Turn results into reports, one module for each kind of result. Open `gradients.py` first."""
