"""What lasts: tables, migrations, queries and export."""
