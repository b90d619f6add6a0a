"""Source for JAX, torch, TensorFlow and Keras."""
