"""The program notation of graphs, arrays and contractions. Open `printer.py` first."""
