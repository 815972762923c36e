"""The command line: thin commands over stacks, components and the lab."""
