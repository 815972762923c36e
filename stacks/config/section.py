"""What every section of the settings is built on."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from stacks.config.fields import Slug


class Section(BaseModel):
    """Base of every section: frozen, unknown keys refused, no conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


ValueT = TypeVar("ValueT")


def _read_only(value: Mapping[str, ValueT]) -> Mapping[str, ValueT]:
    return MappingProxyType(dict(value))


def empty() -> Mapping[str, ValueT]:
    """The default of a section by name."""
    return MappingProxyType({})


ByName = Annotated[Mapping[Slug, ValueT], AfterValidator(_read_only)]
