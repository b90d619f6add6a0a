"""Find wrong rules of algebra in an equation. Open `wrong_rewriting` first."""
