"""`python -m tests.hostile`: the hostile corpus as a table."""

import sys

from tests.hostile.runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
