"""Array programs: vocabulary, loop nests, memory. Open `plan.py` first."""
