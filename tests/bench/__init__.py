"""Benchmarks: figures as ratios against a raw limit measured in the same run. Run by `make bench`."""
