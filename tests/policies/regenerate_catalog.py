"""Writes ``policies/catalog.json`` from the catalogue: ``python -m tests.policies.regenerate_catalog``.

The policies may not import the program, so they read this file; a test compares it with the catalogue.
"""

import json

from components.catalog import FABRICS
from policies.facts import CATALOG_FILE


def document() -> str:
    """The text of ``catalog.json``."""
    fabrics = {key: {"kind": FABRICS[key].kind.value} for key in FABRICS}
    return json.dumps({"fabrics": fabrics}, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    CATALOG_FILE.write_text(document())
