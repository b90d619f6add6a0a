"""Import functions of JAX as programs. Open `function.py` first, then `jaxpr_reader.py`."""
