"""The LanguageRuntime service: each call translated to one function of this package."""

from collections.abc import Iterator

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from lab.errors import LabError
from lab.toolchain.language import dependencies
from lab.toolchain.language.plugin import run_plugin
from lab.toolchain.language.process import Children
from lab.toolchain.language.program import from_info
from lab.toolchain.language.run import run

VERSION = "1.0.0"


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Serves one engine.

    Args:
        engine: Address of the engine; programs send their messages there.
        children: The processes of this host.
    """

    def __init__(self, engine: str, children: Children) -> None:
        self._engine = engine
        self._children = children
