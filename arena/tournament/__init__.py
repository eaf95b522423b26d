"""Formats and schedules, the run loop and the executors that play blocks."""
