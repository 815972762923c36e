"""The stack as a drawing: components, what they hand on, who takes it."""
