"""Text without secrets: known values wherever they stand, and what looks like a secret."""

import base64
import re
from collections.abc import Iterable
from urllib.parse import quote

REMOVED = "[redacted]"
# Shorter values are words: removing every "admin" hides the log and protects nothing.
_SHORTEST = 8
_WORD = (
    r"(?:pass(?:word|wd|phrase)?|pwd|secret|token|credential|(?:api|access|private|session|signing)[_-]?key)"
)
_VALUE = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,;&}\])'"]+)"""
_NAMED = re.compile(
    rf"""(["']?[\w.-]*{_WORD}[\w.-]*["']?\s*(?:=>?|(?<!:):(?!:))\s*){_VALUE}""", re.IGNORECASE
)
_FLAG = re.compile(rf"(--[\w-]*{_WORD}[\w-]*\s+)(\S+)", re.IGNORECASE)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL
        ),
        REMOVED,
    ),
    (
        re.compile(
            r"(?i)(\b(?:authorization|proxy-authorization|cookie|set-cookie)\b[\"']?\s*[:=]\s*)[^\r\n]+"
        ),
        rf"\1{REMOVED}",
    ),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {REMOVED}"),
    # JSON web tokens, then keys of common services by their published prefixes.
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"), REMOVED),
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), REMOVED),
    (re.compile(r"\b(?:gh[pousr]_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"), REMOVED),
    (re.compile(r"\b(?:hf_\w{20,}|pul-[0-9a-f]{20,})"), REMOVED),
    (re.compile(r"([a-zA-Z][\w+.-]*://[^\s:/@]*):[^\s@]+@"), rf"\1:{REMOVED}@"),
    (
        re.compile(r"(?i)([?&](?:x-amz-(?:signature|credential|security-token)|sig|signature)=)[^&\s\"']+"),
        rf"\1{REMOVED}",
    ),
    (re.compile(r"(?i)\b((?:client|certificate)[\w-]*-data|token-data)(\s*:\s*)\S+"), rf"\1\2{REMOVED}"),
    # What Pulumi encrypts: worth nothing without the passphrase, and dev's passphrase is published.
    (re.compile(r"\bv1:[A-Za-z0-9+/=]{8,}:[A-Za-z0-9+/=]{8,}"), REMOVED),
)


class Redactor:
    """Takes secrets out of text.

    Args:
        known: Values that must not leave; each also in the forms it is usually carried in.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        forms = {form for value in known for form in _forms(value)}
        # The longest first: a value inside another must not leave the other's rest standing.
        self._forms = sorted(forms, key=len, reverse=True)

    def clean(self, text: str) -> str:
        """The text with every known value and everything that looks like a secret replaced."""
        for form in self._forms:
            text = text.replace(form, REMOVED)
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        text = _NAMED.sub(_without_value, text)
        return _FLAG.sub(rf"\1{REMOVED}", text)


def _without_value(match: re.Match[str]) -> str:
    value = match[2]
    mark = value[0] if value[0] in "\"'" else ""
    return f"{match[1]}{mark}{REMOVED}{mark}"


def _forms(value: str) -> Iterable[str]:
    for one in (value, value.strip(), *value.split("\n")):
        if len(one) < _SHORTEST:
            continue
        yield one
        yield quote(one, safe="")
        for padded in (one, f"{one}\n"):
            yield base64.b64encode(padded.encode()).decode()
            yield base64.urlsafe_b64encode(padded.encode()).decode()
        yield one.encode("unicode_escape").decode()
