"""Types of single settings, each with the form and the fix its messages print."""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, Field, StrictBool, StrictInt, StrictStr

from components.catalog import FABRICS, SERVERS
from stacks.config.images import is_exact

SLUG_MAX = 40
SLUG = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
MAX_NODES = 1000
MAX_SIZE_GIB = 65536
MAX_MINUTES = 43200
MAX_DAYS = 730
MAX_GPUS_PER_NODE = 16
# The lab's two classes lie on different directories of its node, so that one can fill without the other.
DEFAULT_CLASSES: Mapping[str, str] = MappingProxyType({"datasets": "standard", "checkpoints": "fast"})
DEFAULT_LIMIT_MINUTES = 60
DEFAULT_MAX_LIMIT_MINUTES = 1440
# Name to the unit its threshold has; those without one judge themselves. A test compares with the component.
ACCEPTANCE_TESTS: Mapping[str, str] = MappingProxyType(
    {
        "nccl-intra": "GB/s bus bandwidth",
        "nccl-inter": "GB/s bus bandwidth",
        "dcgm-1": "",
        "dcgm-2": "",
        "dcgm-3": "",
        "storage-datasets": "GB/s read",
        "storage-checkpoints": "GB/s written",
        "gpt2": "tokens/s of one GPU",
        "bert": "tokens/s of one GPU",
    }
)
# One scalable unit of NVIDIA's DGX SuperPOD: 32 nodes, four to a rack.
DEFAULT_NODES_PER_RACK = 4
DEFAULT_RACKS_PER_BLOCK = 8
_SLUG_FORM = f"1 to {SLUG_MAX} of a-z, 0-9 and '-', starting and ending with a letter or digit"
_SLUG_PATTERN = rf"^{SLUG.pattern}$"
_DIGEST = r"@sha256:[0-9a-f]{64}"
_IMAGE_NAME = r"[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+"
_IMAGE_PATTERN = rf"^{_IMAGE_NAME}(:[A-Za-z0-9_][A-Za-z0-9._-]{{0,127}})?({_DIGEST})?$"


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a setting accepts, in words.

    Args:
        accepted: The accepted form.
        fix: What to do when it is not met; empty for the general advice of its type.
        known: The accepted names, where they are few enough to suggest the nearest.
    """

    accepted: str
    fix: str = ""
    known: tuple[str, ...] = ()


def _one_of(names: Container[str]) -> Callable[[str], str]:
    def check(value: str) -> str:
        if value not in names:
            raise ValueError("unknown")
        return value

    return check


def _exact_image(reference: str) -> str:
    """Refuse references that can change under us: no tag and no digest, or a moving tag."""
    if not is_exact(reference):
        raise ValueError("not exact")
    return reference


Flag = Annotated[StrictBool, Form(accepted="true or false", fix="write true or false, without quotes")]
Slug = Annotated[
    StrictStr,
    Field(pattern=_SLUG_PATTERN, max_length=SLUG_MAX),
    Form(accepted=_SLUG_FORM, fix="rename it in lower-case ASCII, words joined by '-'"),
]
Contact = Annotated[
    StrictStr,
    Field(pattern=r"\S", max_length=256),
    Form(accepted="how to reach the owner: a mail address, channel or page, at most 256 characters"),
]
ServerKey = Annotated[
    StrictStr,
    AfterValidator(_one_of(SERVERS)),
    Field(json_schema_extra={"enum": list(SERVERS)}),
    Form(accepted=f"a server of the catalogue: {', '.join(SERVERS)}", known=tuple(SERVERS)),
]
# Those a server of one's own can be on and whose NCCL values need nothing only the site knows.
_POOL_FABRICS = tuple(key for key, row in FABRICS.items() if not row.cloud_only and not row.needs_site_values)
FabricKey = Annotated[
    StrictStr,
    AfterValidator(_one_of(_POOL_FABRICS)),
    Field(json_schema_extra={"enum": list(_POOL_FABRICS)}),
    Form(accepted=f"a fabric of the catalogue: {', '.join(_POOL_FABRICS)}", known=_POOL_FABRICS),
]


def _whole(most: int, unit: str) -> Form:
    return Form(accepted=f"a whole number of {unit} from 1 to {most}")


NodeCount = Annotated[
    StrictInt,
    Field(ge=1, le=MAX_NODES),
    Form(
        accepted=f"a whole number of nodes from 1 to {MAX_NODES}",
        fix=f"choose 1 to {MAX_NODES}; an unused entry is removed, a larger one split",
    ),
]
RackNodes = Annotated[StrictInt, Field(ge=1, le=72), _whole(72, "nodes")]
BlockRacks = Annotated[StrictInt, Field(ge=1, le=MAX_NODES), _whole(MAX_NODES, "racks")]
GpuQuota = Annotated[
    StrictInt, Field(ge=1, le=MAX_NODES * MAX_GPUS_PER_NODE), _whole(MAX_NODES * MAX_GPUS_PER_NODE, "GPUs")
]
NodeGpus = Annotated[
    StrictInt, Field(ge=1, le=MAX_GPUS_PER_NODE), _whole(MAX_GPUS_PER_NODE, "GPUs in one node")
]
SizeGib = Annotated[StrictInt, Field(ge=1, le=MAX_SIZE_GIB), _whole(MAX_SIZE_GIB, "GiB")]
Minutes = Annotated[StrictInt, Field(ge=1, le=MAX_MINUTES), _whole(MAX_MINUTES, "minutes")]
TestName = Annotated[
    StrictStr,
    AfterValidator(_one_of(ACCEPTANCE_TESTS)),
    Field(json_schema_extra={"enum": list(ACCEPTANCE_TESTS)}),
    Form(accepted=f"an acceptance test: {', '.join(ACCEPTANCE_TESTS)}", known=tuple(ACCEPTANCE_TESTS)),
]
Figure = Annotated[
    float,
    Field(gt=0, le=1e9, allow_inf_nan=False, strict=True),
    Form(accepted="a number above 0, in the unit of its test", fix="write a plain number without quotes"),
]
Days = Annotated[StrictInt, Field(ge=1, le=MAX_DAYS), _whole(MAX_DAYS, "days")]
ScrapeSeconds = Annotated[
    StrictInt,
    Field(ge=5, le=300),
    Form(accepted="a whole number of seconds from 5 to 300"),
]
WebhookUrl = Annotated[
    StrictStr,
    Field(pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?$", max_length=512),
    Form(
        accepted="an http or https address without user, password or query",
        fix="put a relay that knows the token in front: settings are read by everybody",
    ),
]
FairShare = Annotated[
    StrictInt,
    Field(ge=1, le=1000),
    Form(accepted="a whole number from 1 to 1000; a queue of weight 0 would get nothing of what is shared"),
]
Replicas = Annotated[StrictInt, Field(ge=1, le=8), _whole(8, "replicas")]
ClassName = Annotated[
    StrictStr,
    Field(pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$", max_length=63),
    Form(
        accepted="the name of a StorageClass of the cluster",
        fix="take a name that `kubectl get storageclass` prints",
    ),
]
HostName = Annotated[
    StrictStr,
    Field(pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?(:[0-9]{1,5})?$", max_length=253),
    Form(accepted="a host name, with a port where it is not the default, without scheme or '*'"),
]
ContextName = Annotated[
    StrictStr,
    Field(pattern=r"\S", max_length=253),
    Form(
        accepted="the name of a context inside the kubeconfig",
        fix="take a name that `kubectl config get-contexts -o name` prints",
    ),
]
FilePath = Annotated[
    StrictStr,
    Field(pattern=r"^[/~]", max_length=4096),
    Form(accepted="an absolute path, or one that starts with ~"),
]
ImageReference = Annotated[
    StrictStr,
    Field(pattern=_IMAGE_PATTERN),
    AfterValidator(_exact_image),
    Form(
        accepted="registry/name:tag with an exact tag (a version with two numbers, a hash or a day), or "
        "registry/name@sha256:<digest>",
        fix="name one release by its tag or digest; 'latest' and other moving tags change under you",
    ),
]
ChartReference = Annotated[
    StrictStr,
    Field(pattern=r"^(oci://[a-z0-9][a-z0-9./:_-]*|/.*)$"),
    Form(accepted="oci://registry/path of a chart, or an absolute path to a chart's directory"),
]
ChartVersion = Annotated[
    StrictStr,
    Field(pattern=r"^v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$"),
    Form(accepted='one exact version in quotes, such as "0.17.0"'),
]
Registry = Annotated[
    StrictStr,
    Field(pattern=r"^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?(/[a-z0-9._-]+)*$"),
    Form(
        accepted="registry host, with port and path prefix where needed, without scheme or credentials",
        fix="write it like mirror.example.com:5000/prefix",
    ),
]
