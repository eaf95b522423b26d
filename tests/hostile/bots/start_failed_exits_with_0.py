"""Ends in good order before it greets."""

raise SystemExit(0)
