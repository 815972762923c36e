"""Whether a tag names one release for good, by the rule of policies/rules/images.py.

The policies import nothing of ours; a contract test judges the same references by both.
"""

import re

# Exact: two numbers of a version at least, a hash, or a day. `15` or `stable` move on.
_EXACT_TAG = re.compile(r"\d+\.\d+|(^|[-_.])(?=[a-f]*\d)[0-9a-f]{7,}($|[-_.])|20\d{6}")
_MOVING_WORD = re.compile(r"(^|[-_.])(latest|nightly|edge|snapshot|main|master|dev)($|[-_.])", re.IGNORECASE)


def is_exact(reference: str) -> bool:
    """Whether a reference with a digest or a tag can't change under us."""
    if "@" in reference:
        return True
    tag = reference.rpartition("/")[2].partition(":")[2]
    return bool(_EXACT_TAG.search(tag)) and not _MOVING_WORD.search(tag)
