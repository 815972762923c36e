"""Security floors: versions below which a product has a known hole."""

from dataclasses import dataclass

from components.catalog.table import Table
from components.catalog.version_numbers import parse_version, within


@dataclass(frozen=True, kw_only=True)
class SecurityFloor:
    """One hole.

    Args:
        key: Its CVE number, followed by the product where one number concerns several.
        product: The product.
        fixed_in: First versions without it, one for each maintained branch, oldest first.
        affected_through: Last version known to have it, where no fixed one is named.
        what: What an attacker gets.
        remedy: What helps beside a newer version; empty where nothing does.
        source: Public address.
        date: Day it was published or read, ISO 8601.
    """

    key: str
    product: str
    fixed_in: tuple[str, ...] = ()
    affected_through: str | None = None
    what: str
    remedy: str = ""
    source: str
    date: str

    def affects(self, version: str) -> bool:
        """Whether this version has the hole.

        Between two fixed branches a version is judged by the branch with its own first two numbers, and has
        the hole when there is none.

        Raises:
            ValueError: It is no version.
        """
        if not self.fixed_in:
            return self.affected_through is None or parse_version(version) <= parse_version(
                self.affected_through
            )
        own = [fixed for fixed in self.fixed_in if _branch(fixed) == _branch(version)]
        return not within(version, since=(own or [self.fixed_in[-1]])[0])

    @property
    def accepted(self) -> str:
        """The versions without it, in words."""
        if self.fixed_in:
            return " or ".join(f"{fixed} and newer" for fixed in self.fixed_in)
        return f"newer than {self.affected_through}"


def _branch(version: str) -> tuple[int, ...]:
    return (*parse_version(version), 0)[:2]


_OPERATOR_CVES = "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/security.html"
_READ_ON = "2026-11-30"

SECURITY_FLOORS: Table[SecurityFloor] = Table(
    "security floor",
    (
        SecurityFloor(
            key="CVE-2024-0132",
            product="nvidia-container-toolkit",
            fixed_in=("1.16.2",),
            what="a container reaches the host's file system",
            source=_OPERATOR_CVES,
            date=_READ_ON,
        ),
        SecurityFloor(
            key="CVE-2025-23359",
            product="nvidia-container-toolkit",
            fixed_in=("1.17.4",),
            what="a container reaches the host's file system",
            source=_OPERATOR_CVES,
            date=_READ_ON,
        ),
        SecurityFloor(
            key="CVE-2025-23359-operator",
            product="gpu-operator",
            fixed_in=("24.9.2",),
            what="it carries a container toolkit with that hole",
            source=_OPERATOR_CVES,
            date=_READ_ON,
        ),
        SecurityFloor(
            key="CVE-2025-23266",
            product="nvidia-container-toolkit",
            fixed_in=("1.17.8",),
            what="a container image runs code on the host with full rights",
            source="https://github.com/NVIDIA/gpu-operator/pull/1466",
            date="2025-07-15",
        ),
        SecurityFloor(
            key="CVE-2025-23319",
            product="triton",
            fixed_in=("25.07",),
            what="anyone who reaches the server runs code in it",
            remedy="let only the gateway reach it",
            source="https://nvidia.custhelp.com/app/answers/detail/a_id/5687",
            date="2025-08-04",
        ),
        SecurityFloor(
            key="CVE-2026-2614",
            product="mlflow",
            fixed_in=("3.10.0",),
            what="anyone who reaches the server reads its files",
            source="https://aithreatalert.com/cve/CVE-2026-2614",
            date=_READ_ON,
        ),
        SecurityFloor(
            key="CVE-2026-0545",
            product="mlflow",
            affected_through="3.10.1",
            what="the job interface ignores the login",
            remedy="keep job execution off and a proxy with a login in front",
            source="https://aithreatalert.com/cve/CVE-2026-0545",
            date=_READ_ON,
        ),
        SecurityFloor(
            key="CVE-2025-49844",
            product="redis",
            fixed_in=("6.2.20", "7.2.11", "7.4.6", "8.0.4", "8.2.2"),
            what="a user who may run Lua scripts runs code in the server",
            remedy="forbid scripts by ACL",
            source="https://github.com/redis/redis/security/advisories/GHSA-4789-qfc9-5f9q",
            date="2025-10-03",
        ),
        SecurityFloor(
            key="CVE-2026-25506",
            product="munge",
            fixed_in=("0.5.18",),
            what="a local user learns the key and forges any user's credential",
            source="https://github.com/dun/munge/security/advisories/GHSA-r9cr-jf4v-75gh",
            date="2026-02-10",
        ),
    ),
)

PRODUCTS = tuple(sorted({row.product for row in SECURITY_FLOORS.values()}))


def open_holes(product: str, version: str) -> tuple[SecurityFloor, ...]:
    """The known holes of a product's version; empty also for products the catalogue does not watch.

    Args:
        product: One of ``PRODUCTS``.
        version: Its version; distributions that mend old versions keep the number, so judge their packages
            by the distribution's own notices.

    Raises:
        ValueError: It is no version.
    """
    rows = [row for row in SECURITY_FLOORS.values() if row.product == product]
    return tuple(row for row in rows if row.affects(version))
