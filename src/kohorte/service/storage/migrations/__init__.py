"""Migrations of the tables (Alembic)."""
