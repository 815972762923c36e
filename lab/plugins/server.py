"""Serving a stand-in to the engine: the guard first, LAB in the output, failures without tracebacks."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NoReturn

import grpc
import grpc.aio
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime import proto
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2_grpc

from lab.errors import LabError
from lab.plugins.guard import refuse_outside_lab
from lab.plugins.provider import TableProvider
from lab.plugins.standin import StandIn, StandInError

Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler | None]]
PARENT_SECONDS = 1.0
MESSAGE_BYTES = 400 * 1024 * 1024  # the limit of Pulumi's own providers


class StandInServicer(ProviderServicer):
    """The SDK's servicer of a table; says LAB when it is configured.

    Args:
        standin: The table to serve.
        engine: Address of the engine.
    """

    def __init__(self, standin: StandIn, engine: str) -> None:
        super().__init__([], f"{standin.version}+lab", TableProvider(standin), engine)
        self._message = (
            f"LAB: provider {standin.package} is this lab's stand-in for version {standin.version}"
        )

    async def Configure(
        self, request: proto.ConfigureRequest, context: grpc.aio.ServicerContext
    ) -> proto.ConfigureResponse:
        """Configure the table and say in the user's output what answers."""
        response: proto.ConfigureResponse = await super().Configure(request, context)
        async with grpc.aio.insecure_channel(self._engine_address) as channel:
            await engine_pb2_grpc.EngineStub(channel).Log(
                engine_pb2.LogRequest(severity=engine_pb2.INFO, message=self._message)
            )
        return response


class MessageAlone(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # grpc has no types
    """What a stand-in refuses reaches the user as its message, without the traceback the SDK puts into it."""

    async def intercept_service(
        self, continuation: Continuation, details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler | None:
        """Wrap one method of the service."""
        handler = await continuation(details)
        if handler is None or handler.unary_unary is None:
            return handler

        async def answer(request: object, context: grpc.aio.ServicerContext) -> object:
            try:
                return await handler.unary_unary(request, context)
            except Exception as error:
                # the SDK raises a new exception in the handler of the first
                cause = error if isinstance(error, StandInError) else error.__context__
                if isinstance(cause, StandInError):
                    await context.abort(grpc.StatusCode.UNKNOWN, str(cause))
                raise

        return grpc.unary_unary_rpc_method_handler(
            answer, handler.request_deserializer, handler.response_serializer
        )


async def _serve(standin: StandIn, engine: str) -> None:
    server = grpc.aio.server(
        interceptors=(MessageAlone(),), options=[("grpc.max_receive_message_length", MESSAGE_BYTES)]
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(StandInServicer(standin, engine), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ending = asyncio.Event()
    parent = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ending.set)
    print(port, flush=True)
    while os.getppid() == parent:  # an engine that was killed tells nobody
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(ending.wait(), PARENT_SECONDS)
            break
    await server.stop(grace=None)


def main(standin: StandIn, arguments: Sequence[str]) -> NoReturn:
    """Serve one stand-in until the engine ends it.

    Args:
        standin: The table.
        arguments: The launcher's path, then what the engine gave: flags and its address.
    """
    try:
        refuse_outside_lab(Path(arguments[0]), os.environ)
    except LabError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(1)
    asyncio.run(_serve(standin, arguments[-1]))
    sys.exit(0)
