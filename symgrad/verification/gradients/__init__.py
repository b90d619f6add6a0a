"""Decide claims with stop_gradient: equality of values and of derivatives. Open `value_and_gradient` first."""
