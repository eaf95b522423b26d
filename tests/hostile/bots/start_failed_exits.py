"""Cannot even be imported."""

raise SystemExit("no such module: brain")
