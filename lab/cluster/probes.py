"""One question to a component: are you healthy? Asked from inside the node's namespace."""

import socket
import ssl
import urllib.error
import urllib.request

TIMEOUT_SECONDS = 1.0


def _context() -> ssl.SSLContext:
    # Health answers carry nothing worth faking, and scheduler and controller manager sign for themselves.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


CONTEXT = _context()
OPENER = urllib.request.build_opener(
    urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=CONTEXT)
)


def ask(address: str) -> str:
    """Ask a health endpoint.

    Args:
        address: ``http://…``, ``https://…`` or ``unix:/path``.

    Returns:
        An empty text when healthy, else what was seen.
    """
    try:
        if address.startswith("unix:"):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(TIMEOUT_SECONDS)
                connection.connect(address.removeprefix("unix:"))
            return ""
        with OPENER.open(address, timeout=TIMEOUT_SECONDS) as answer:
            answer.read(4096)
    except urllib.error.HTTPError as error:
        return f"answers {error.code}"
    except (OSError, ValueError) as error:
        return f"no answer: {getattr(error, 'reason', error)}"
    return ""
