"""Sample exact points for a statement. Open `sampler` first."""
