"""Play one match: ask, clocks, verdicts; keep its record; replay and verify it."""
