"""Many remote bots and clients at a real server that is killed under them: `python -m tests.load`."""
