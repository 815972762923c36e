"""Who owns and pays for an object, as labels and annotations."""

from dataclasses import dataclass

LABEL_PREFIX = "gpu-platform"
MANAGED_BY = "pulumi"


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """The cost set every labelled object carries.

    Args:
        owner: Team that answers for it, a slug.
        project: Project it belongs to, a slug.
        environment: Environment (stack), a slug.
        cost_centre: Where the cost goes, a slug.
        contact: How to reach the owner; goes into an annotation, so any text.
    """

    owner: str
    project: str
    environment: str
    cost_centre: str
    contact: str

    def labels(self) -> dict[str, str]:
        """The ``gpu-platform/*`` labels."""
        return {
            f"{LABEL_PREFIX}/owner": self.owner,
            f"{LABEL_PREFIX}/project": self.project,
            f"{LABEL_PREFIX}/environment": self.environment,
            f"{LABEL_PREFIX}/cost-centre": self.cost_centre,
            f"{LABEL_PREFIX}/managed-by": MANAGED_BY,
        }

    def annotations(self) -> dict[str, str]:
        """The contact, which a label value could not hold."""
        return {f"{LABEL_PREFIX}/contact": self.contact}
