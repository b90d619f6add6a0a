"""Explain wrong claims by the mistakes that people make when they differentiate. Open `diagnoses` first."""
