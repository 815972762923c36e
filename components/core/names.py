"""Names that the outside must know, within the limits of their service."""

import hashlib
import re

# RFC 1123 label, the form Kubernetes asks of names of namespaces and Services.
DNS_LABEL_MAX = 63
DNS_LABEL = re.compile(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
_HASH_LENGTH = 6


def dns_label(*parts: str) -> str:
    """Join parts with ``-`` into a DNS label; too long names keep their head and gain a hash.

    Args:
        parts: Lower-case parts, each made of ``[a-z0-9-]``.

    Raises:
        ValueError: A part has a character a DNS label can't hold.
    """
    name = "-".join(parts)
    if not DNS_LABEL.match(name):
        raise ValueError(
            f"{name!r} is not a DNS label: use a-z, 0-9 and '-', starting and ending alphanumeric"
        )
    if len(name) <= DNS_LABEL_MAX:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{name[: DNS_LABEL_MAX - _HASH_LENGTH - 1].rstrip('-')}-{digest}"
