"""Runs one program under Pulumi's mocks."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
from google.protobuf.struct_pb2 import Struct, Value
from pulumi.output import Unknown
from pulumi.runtime import mocks as pulumi_mocks
from pulumi.runtime import rpc, settings

from tests.harness.recording import UNKNOWN, Options, Recorded, Recording

PROJECT, STACK = "gpu-platform", "dev"
_HOOK_KINDS = (
    "before_create",
    "after_create",
    "before_update",
    "after_update",
    "before_delete",
    "after_delete",
)

# What the random provider makes of a password beyond the inputs.
PASSWORDS: Mapping[str, Mapping[str, str]] = {
    "random:index/randomPassword:RandomPassword": {
        "result": "made-for-{name}",
        "bcryptHash": "hash-for-{name}",
    }
}


class _Mocks(pulumi_mocks.Mocks):
    """Gives back the inputs; ids only outside a preview."""

    def __init__(
        self, preview: bool, calls: Mapping[str, Mapping[str, Any]], made: Mapping[str, Mapping[str, str]]
    ) -> None:
        self._preview, self._calls, self._made = preview, calls, made

    def call(self, args: pulumi_mocks.MockCallArgs) -> Any:
        return dict(self._calls.get(args.token, {})), None

    def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        identity = None if self._preview or not args.custom else f"{args.name}-id"
        made = {} if self._preview else self._made.get(args.typ, {})
        return identity, {**args.inputs, **{key: text.format(name=args.name) for key, text in made.items()}}


class _Monitor(pulumi_mocks.MockMonitor):
    """Records each request before the mocks answer it; the mocks alone would drop the options."""

    def __init__(self, mocks: pulumi_mocks.Mocks, recording: Recording) -> None:
        super().__init__(mocks)
        self._recording = recording
        self.thread_loops: set[asyncio.AbstractEventLoop] = set()

    def RegisterResource(self, request: Any) -> Any:
        if request.type != "pulumi:pulumi:Stack":
            secret_paths: list[str] = []
            self._recording.resources.append(
                Recorded(
                    type=request.type,
                    name=request.name,
                    inputs=_plain_struct(request.object, "", secret_paths),
                    secret_paths=tuple(secret_paths),
                    parent=_logical_name(request.parent),
                    options=_options(request),
                )
            )
        answer = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        # The mocks leave an event loop behind on every thread that answers.
        with contextlib.suppress(RuntimeError):
            self.thread_loops.add(asyncio.get_event_loop())
        return answer


def run(
    program: Callable[[], Any],
    *,
    preview: bool = False,
    calls: Mapping[str, Mapping[str, Any]] | None = None,
    made: Mapping[str, Mapping[str, str]] | None = None,
) -> Recording:
    """Run a program on a fresh event loop and wait for everything it started.

    Args:
        program: Builds resources; the outputs in what it returns are resolved into ``outputs``.
        preview: As a preview: ids and whatever else the inputs don't hold are unknown.
        calls: Token → answer of provider functions.
        made: Type token → outputs its provider makes beyond the inputs, unknown in a preview; ``{name}``
            stands for the logical name.

    Raises:
        Exception: Whatever the program raises.
    """
    recording = Recording()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    mocks = _Mocks(preview, calls or {}, made or {})
    monitor = _Monitor(mocks, recording)
    try:
        pulumi_mocks.set_mocks(mocks, project=PROJECT, stack=STACK, preview=preview, monitor=monitor)

        def body() -> None:
            returned = pulumi.Output.from_input(program())
            recording.outputs = returned

        pulumi_mocks.test(body)()  # type: ignore[no-untyped-call]
        recording.outputs = loop.run_until_complete(_resolved(recording.outputs))
    finally:
        settings.set_root_resource(None)  # type: ignore[arg-type]
        settings.reset_options()
        loop.run_until_complete(loop.shutdown_default_executor())
        asyncio.set_event_loop(None)
        for left in {loop, *monitor.thread_loops}:
            left.close()
    return recording


async def _resolved(output: pulumi.Output[Any]) -> Any:
    return _known(await output.future(with_unknowns=True))


def _known(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _known(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_known(inner) for inner in value]
    return UNKNOWN if isinstance(value, Unknown) else value


def _options(request: Any) -> Options:
    hooks = {kind: tuple(getattr(request.hooks, kind)) for kind in _HOOK_KINDS}
    return Options(
        protect=request.protect if request.HasField("protect") else None,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        depends_on=tuple(sorted(filter(None, map(_logical_name, request.dependencies)))),
        aliases=tuple(alias.spec.name or alias.urn for alias in request.aliases),
        additional_secret_outputs=tuple(request.additionalSecretOutputs),
        hooks={kind: names for kind, names in hooks.items() if names},
        provider=request.provider,
    )


def _logical_name(urn: str) -> str | None:
    if not urn or urn.split("::")[2] == "pulumi:pulumi:Stack":
        return None
    return urn.rpartition("::")[2]


def _plain_struct(struct: Struct, path: str, secret_paths: list[str]) -> dict[str, Any]:
    return {
        key: _plain(value, f"{path}.{key}".lstrip("."), secret_paths) for key, value in struct.fields.items()
    }


def _plain(value: Value, path: str, secret_paths: list[str]) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        fields = value.struct_value.fields
        signature = fields[rpc._special_sig_key].string_value if rpc._special_sig_key in fields else ""
        if signature != rpc._special_secret_sig:
            return _plain_struct(value.struct_value, path, secret_paths)
        secret_paths.append(path)
        return _plain(fields["value"], path, secret_paths)
    if kind == "list_value":
        return [
            _plain(inner, f"{path}[{index}]", secret_paths)
            for index, inner in enumerate(value.list_value.values)
        ]
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    if kind in (None, "null_value"):
        return None
    plain = getattr(value, kind)
    return UNKNOWN if plain == rpc.UNKNOWN else plain
