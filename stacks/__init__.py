"""Stacks: one kind of environment each, from settings to components."""
