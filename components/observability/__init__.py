"""Observability: rules and dashboards as data, and the components that run them."""
