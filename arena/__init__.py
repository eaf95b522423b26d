"""Bot Arena: bots play card games with hidden information, and the arena says who is better."""

__version__ = "0.1.0"
