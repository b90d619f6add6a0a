"""Write expressions as LaTeX. Open `expressions` first."""
