"""Faults that are planted in a copy of the rules, to see whether the tests find them."""
