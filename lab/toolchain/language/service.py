"""The LanguageRuntime service: each call translated to one function of this package."""
# ruff: noqa: ARG002  the interface names the arguments

from collections.abc import Iterator
from contextlib import contextmanager

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

    def Handshake(
        self, request: language_pb2.LanguageHandshakeRequest, context: grpc.ServicerContext
    ) -> language_pb2.LanguageHandshakeResponse:
        """Nothing to agree on beyond the engine's address."""
        self._engine = request.engine_address or self._engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """This host's own version."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def About(
        self, request: language_pb2.AboutRequest, context: grpc.ServicerContext
    ) -> language_pb2.AboutResponse:
        """Interpreter and version for `pulumi about`."""
        with refused(context):
            found = dependencies.installed(from_info(request.info))
        return language_pb2.AboutResponse(
            executable=found.executable,
            version=found.version,
            metadata={"host": f"gpu-platform lab {VERSION}"},
        )

    def GetProgramDependencies(
        self, request: language_pb2.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ) -> language_pb2.GetProgramDependenciesResponse:
        """Installed packages; without the transitive ones unless they are asked for."""
        with refused(context):
            found = dependencies.installed(from_info(request.info))
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[
                language_pb2.DependencyInfo(name=item.name, version=item.version)
                for item in found.packages
                if item.direct or request.transitiveDependencies
            ]
        )

    def GetRequiredPackages(
        self, request: language_pb2.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> language_pb2.GetRequiredPackagesResponse:
        """The provider plug-ins that the installed SDKs ask for."""
        with refused(context):
            found = dependencies.installed(from_info(request.info))
        return language_pb2.GetRequiredPackagesResponse(
            packages=[
                plugin_pb2.PackageDependency(
                    name=item.name, kind="resource", version=item.version, server=item.server
                )
                for item in found.plugins
            ]
        )

    def GetRequiredPlugins(
        self, request: language_pb2.GetRequiredPluginsRequest, context: grpc.ServicerContext
    ) -> language_pb2.GetRequiredPluginsResponse:
        """The same for engines that know no packages."""
        with refused(context):
            found = dependencies.installed(from_info(request.info))
        return language_pb2.GetRequiredPluginsResponse(
            plugins=[
                plugin_pb2.PluginDependency(
                    name=item.name, kind="resource", version=item.version, server=item.server
                )
                for item in found.plugins
            ]
        )

    def InstallDependencies(
        self, request: language_pb2.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.InstallDependenciesResponse]:
        """Create and fill the virtualenv for `pulumi install`."""
        with refused(context):
            for name, line in dependencies.install(
                from_info(request.info), self._children, context.add_callback
            ):
                yield (
                    language_pb2.InstallDependenciesResponse(stdout=line)
                    if name == "stdout"
                    else language_pb2.InstallDependenciesResponse(stderr=line)
                )

    def RuntimeOptionsPrompts(
        self, request: language_pb2.RuntimeOptionsRequest, context: grpc.ServicerContext
    ) -> language_pb2.RuntimeOptionsResponse:
        """`pulumi new` has nothing to ask: pip and one virtualenv."""
        return language_pb2.RuntimeOptionsResponse()

    def Run(
        self, request: language_pb2.RunRequest, context: grpc.ServicerContext
    ) -> language_pb2.RunResponse:
        """Run the user's program to its end."""
        return run(request, self._engine, self._children, context.add_callback)

    def RunPlugin(
        self, request: language_pb2.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.RunPluginResponse]:
        """Run a policy pack or a plug-in written in Python."""
        with refused(context):
            yield from run_plugin(request, self._children, context.add_callback)

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """The user wants to stop: ask every program and plug-in to end."""
        self._children.interrupt()
        return empty_pb2.Empty()


@contextmanager
def refused(context: grpc.ServicerContext) -> Iterator[None]:
    """Turn a LabError into an error the engine shows without a traceback."""
    try:
        yield
    except LabError as error:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
