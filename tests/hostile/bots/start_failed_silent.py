"""Starts and says nothing."""

import time

time.sleep(60)
