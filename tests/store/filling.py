"""A row in every table of a database, whatever its schema is."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

Rows = dict[str, list[dict[str, Any]]]
"""By table."""


def tables(connection: sa.Connection) -> list[sa.Table]:
    """All tables that there are, those first that others refer to."""
    found = sa.MetaData()
    found.reflect(connection)
    return [table for table in found.sorted_tables if table.name != "alembic_version"]


def fill(connection: sa.Connection) -> None:
    """Put a row into each table. All numbers are 1, so that all of them belong together."""
    for table in tables(connection):
        connection.execute(sa.insert(table), {column.name: _value(column) for column in table.columns})


def contents(connection: sa.Connection) -> Rows:
    """All rows of all tables."""
    return {
        table.name: sorted((dict(row) for row in connection.execute(sa.select(table)).mappings()), key=repr)
        for table in tables(connection)
    }


def _value(column: sa.Column[Any]) -> Any:
    kind = column.type
    if isinstance(kind, sa.Boolean):
        return True
    if isinstance(kind, sa.Integer):
        return 1
    return bytes(range(224, 256)) if isinstance(kind, sa.LargeBinary) else '{"ä": 1}'
