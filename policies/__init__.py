"""Guardrails: rules as pure functions, and the one policy pack that runs them on planned resources."""
