"""Import functions of TensorFlow and models of Keras as programs. Open `function.py` first, then `graph.py`."""
