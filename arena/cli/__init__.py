"""The commands. The only room that knows all the others."""
