"""Why a derivative is what it is: steps, and the lessons behind them."""
