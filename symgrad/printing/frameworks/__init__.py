"""Write source for JAX, torch, TensorFlow and Keras. Open `pasted` first."""
