"""Well-known services that are started without a login; part of the rule ``access``.

What a service does with no word about it is its own default: each row says which words or variables switch
the login on, or off. A service that is not in the table is not judged.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from policies.model import Finding, Unknown, Value, at, items, unknowns
from policies.objects import Container, Pod


@dataclass(frozen=True, kw_only=True)
class Service:
    """How a service is told to ask for a login.

    Args:
        image: Pattern over the last part of the image's repository.
        serves: Pattern over the command line that only a server of this image has; empty for all.
        needs: Pattern over the command line and ``NAME=value`` of the environment; empty for none.
        never: Pattern over the same that switches the login off; empty for none.
        accepted: What to do, in words.
        source: Public address of the switch.
    """

    image: str
    serves: str = ""
    needs: str = ""
    never: str = ""
    accepted: str
    source: str = field(repr=False)


SERVICES = (
    Service(
        image=r"mlflow.*",
        serves=r"(^|\s)(server|ui|mlflow\.server\S*)(\s|\n|$)|^\s*--host",
        needs=r"--app-name[= ]basic-auth",
        accepted="--app-name basic-auth",
        source="https://mlflow.org/docs/latest/self-hosting/security/basic-http-auth/",
    ),
    Service(
        image=r"postgres(ql)?|postgis|pgvector",
        never=r"(^|\n)POSTGRES_HOST_AUTH_METHOD=trust(\n|$)",
        accepted="POSTGRES_PASSWORD_FILE and no method trust",
        source="https://hub.docker.com/_/postgres",
    ),
    Service(
        image=r"(redis|valkey)(-.*)?",
        needs=r"--requirepass|--aclfile|\.conf(\n|$)|(^|\n)(REDIS|VALKEY)_PASSWORD(_FILE)?=",
        never=r"--protected-mode[= ]no|(^|\n)ALLOW_EMPTY_PASSWORD=(yes|true|1)",
        accepted="--requirepass, --aclfile or a configuration file",
        source="https://redis.io/docs/latest/operate/oss_and_stack/management/security/",
    ),
    Service(
        image=r".*(jupyter|notebook).*",
        never=r"\.(token|password)=(''|\"\")?(\s|\n|$)",
        accepted="the token Jupyter makes, or a hashed password",
        source="https://jupyter-server.readthedocs.io/en/latest/operators/security.html",
    ),
    Service(
        image=r"grafana(-oss|-enterprise)?",
        never=r"(^|\n)GF_AUTH_(ANONYMOUS_ENABLED|DISABLE_LOGIN_FORM)=(true|1)(\n|$)",
        accepted="GF_AUTH_ANONYMOUS_ENABLED false",
        source="https://grafana.com/docs/grafana/latest/setup-grafana/configure-access/configure-authentication/",
    ),
    Service(
        image=r"minio",
        needs=r"(^|\n)MINIO_ROOT_PASSWORD(_FILE)?=",
        accepted="MINIO_ROOT_PASSWORD from a Secret; the default is published",
        source="https://min.io/docs/minio/linux/reference/minio-server/settings/root-credentials.html",
    ),
    Service(
        image=r"mongo(db)?",
        needs=r"--auth(\s|\n|$)|(^|\n)MONGO_INITDB_ROOT_PASSWORD(_FILE)?=",
        never=r"--noauth",
        accepted="--auth",
        source="https://www.mongodb.com/docs/manual/tutorial/enable-authentication/",
    ),
)


def without_login(pod: Pod) -> Iterator[Finding]:
    """Findings of the pod's containers."""
    for container in pod.containers():
        # An init container of the same image prepares and ends; it serves nobody.
        if ".initContainers[" not in container.path:
            yield from _container(pod, container)


def _container(pod: Pod, container: Container) -> Iterator[Finding]:
    image = at(container.body, "image")
    if not isinstance(image, str):
        return
    name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    service = next((row for row in SERVICES if re.fullmatch(row.image, name)), None)
    if service is None:
        return
    text, doubt = _words(container.body)
    where = f"{container.where} runs {name}"
    if doubt is None and not re.search(service.serves, text):
        return
    if service.never and re.search(service.never, text):
        yield pod.owner.fail("login", f"{where} with its login off; accepted: {service.accepted}")
    elif service.needs and not re.search(service.needs, text) and doubt is None:
        yield pod.owner.fail("login", f"{where} without a login; accepted: {service.accepted}")
    elif doubt and not (service.needs and not service.never and re.search(service.needs, text)):
        yield pod.owner.unproven("login", doubt, service.accepted)


def _words(body: Value) -> tuple[str, Unknown | None]:
    """Command line and environment as text, and the first part of either that is unknown."""
    lines, doubts = [], []
    for key in ("command", "args"):
        words = at(body, key)
        doubts += list(unknowns(words))
        lines.append(" ".join(str(word) for word in items(words) if not isinstance(word, Unknown)))
    entries = at(body, "env")
    doubts += list(unknowns(entries))
    for entry in items(entries):
        if isinstance(entry, Mapping):
            name, value = at(entry, "name"), at(entry, "value")
            # A value that is not known yet is something, and a name is what most switches are.
            lines.append(f"{name}={'' if value is None or isinstance(value, Unknown) else value}")
    return "\n".join(lines), doubts[0] if doubts else None
