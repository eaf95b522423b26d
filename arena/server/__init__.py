"""The arena as a server: accounts, submissions, tournaments and leagues that run by themselves."""
