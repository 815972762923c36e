"""What all sections of the settings share."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from stacks.config.fields import Slug


class Section(BaseModel):
    """Base of every section: frozen, unknown keys refused, no conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


ValueT = TypeVar("ValueT")


def read_only(value: Mapping[str, ValueT]) -> Mapping[str, ValueT]:
    """A copy that nobody can change."""
    return MappingProxyType(dict(value))


def empty() -> Mapping[str, ValueT]:
    """Default of a mapping."""
    return MappingProxyType({})


ByName = Annotated[Mapping[Slug, ValueT], AfterValidator(read_only)]
