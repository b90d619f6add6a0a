"""Functions of TensorFlow, and models of Keras on it, as programs."""
