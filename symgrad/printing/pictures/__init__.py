"""Draw graphs and curves as SVG, and embed them in pages. Open `svg` first."""
