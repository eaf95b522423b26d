"""References to bots, how they start, and the gRPC gateway that they dial."""
