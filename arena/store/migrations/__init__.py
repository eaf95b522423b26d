"""Migrations: every schema that was ever released leads to the newest one."""
