"""Who may reach a service, checked and opened the same way for each."""

from components.core import Component, Ownership, Problem, check_not_empty
from components.kube.network import NetworkAllow, NetworkAllowArgs, Pods


def client_problems(clients: tuple[Pods, ...]) -> list[Problem]:
    """What is wrong with a list of clients."""
    problems = check_not_empty("clients", clients, "the pods that use it, one entry or more")
    namespaces = [client.namespace for client in clients]
    return problems + [
        Problem(
            path="clients",
            value=f"namespace {namespace!r} twice",
            accepted="one entry per namespace",
            fix="join the entries (empty labels mean all pods of the namespace)",
        )
        for namespace in sorted({item for item in namespaces if namespaces.count(item) > 1})
    ]


def client_namespaces(namespace: str, clients: tuple[Pods, ...]) -> tuple[str, ...]:
    """Namespaces that need the credentials: the clients' and the server's own."""
    return tuple(sorted({namespace, *(client.namespace for client in clients)}))


def allow_clients(
    parent: Component, name: str, *, ownership: Ownership, clients: tuple[Pods, ...], server: Pods, port: int
) -> None:
    """Open the way from each client to the server, both ends."""
    for client in clients:
        NetworkAllow(
            f"{name}-from-{client.namespace}",
            NetworkAllowArgs(ownership=ownership, client=client, server=server, ports=(port,)),
            parent.child(),
        )
