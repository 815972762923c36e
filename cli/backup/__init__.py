"""Backup and restore of what the environment's services keep."""
