"""One ``deploy`` per kind of environment."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from stacks import dev
from stacks.config import Settings
from stacks.guardrails import tell_without_guardrails
from stacks.outputs import StackOutputs

_KINDS: Mapping[str, Callable[[Settings], StackOutputs]] = MappingProxyType({"dev": dev.deploy})


def deploy(settings: Settings) -> StackOutputs:
    """Build the environment its settings describe."""
    tell_without_guardrails()
    return _KINDS[settings.kind](settings)
