"""Started by the launcher with its own path, then what the engine gave: flags and the engine's address."""

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto import language_pb2_grpc

from lab.toolchain.language.process import Children
from lab.toolchain.language.service import LanguageHost

PARENT_SECONDS = 1.0
CALLS_AT_ONCE = 64  # each running program, policy pack and plug-in holds one
MESSAGE_BYTES = 400 * 1024 * 1024  # the limit of Pulumi's own hosts
ENDING = {signal.SIGINT, signal.SIGTERM}


def main(arguments: list[str]) -> int:
    """Serve until the engine sends SIGINT or is gone.

    Args:
        arguments: Flags, which are ignored, and last the engine's address.
    """
    # blocked before any thread or child exists, so that nothing prints a traceback when the engine ends us
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    parent = os.getppid()
    children = Children()
    engine = arguments[-1] if arguments and not arguments[-1].startswith("-") else ""
    server = grpc.server(
        ThreadPoolExecutor(max_workers=CALLS_AT_ONCE),
        options=[("grpc.max_receive_message_length", MESSAGE_BYTES)],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(engine, children), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    while os.getppid() == parent and signal.sigtimedwait(ENDING, PARENT_SECONDS) is None:
        pass  # an engine that was killed tells nobody, so its death is looked for
    children.close()
    server.stop(grace=0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
