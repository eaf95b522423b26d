"""References to bots, how they start, and the gRPC gateway that they dial."""

import os

# Bots are started by processes that use gRPC; its fork hooks would only get in the way.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
