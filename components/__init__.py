"""Reusable component resources; see docs/architecture.md for who may import what."""
