"""Reports about a verdict: parts of the domain, excluded and undefined points, hints. Open `report` first."""
