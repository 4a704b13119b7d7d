"""Verdicts: the outcomes of items, the cases of a run, and the declared questions behind them."""
