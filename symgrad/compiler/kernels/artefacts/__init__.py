"""Write kernels to files, and annotate their assembly. Open `artefact.py` first."""
