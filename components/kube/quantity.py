"""Kubernetes quantities in the form the API server gives back.

It rewrites ``8192Gi`` to ``8Ti`` and ``2000`` to ``2k``; a custom resource written the other way would differ
from itself at every preview.
"""

_DECIMAL = ("", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def count(amount: int) -> str:
    """A number of things, such as CPUs or GPUs."""
    return _canonical(amount, 1000, _DECIMAL)


def gibibytes(amount: int) -> str:
    """Memory, from GiB."""
    return _canonical(amount, 1024, _BINARY[_BINARY.index("Gi") :])


def gigabytes(amount: int) -> str:
    """Disk, from GB."""
    return _canonical(amount, 1000, _DECIMAL[_DECIMAL.index("G") :])


def _canonical(amount: int, step: int, suffixes: tuple[str, ...]) -> str:
    power = 0
    while amount and amount % step == 0 and power < len(suffixes) - 1:
        amount //= step
        power += 1
    return f"{amount}{suffixes[power]}"
