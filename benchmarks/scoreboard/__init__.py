"""The public scoreboard: symgrad and every peer that is installed, on the same workloads, in turns in one run."""
