"""Runs programs without an engine and records what they would create.

Typical use::

    def program() -> dict[str, object]:
        namespace = TenantNamespace("jobs", TenantNamespaceArgs(...))
        return {"namespace": namespace.namespace}

    recording = run(program)
    recording.assert_resource("kubernetes:core/v1:Namespace", "jobs-namespace", {...full inputs...})
    recording.assert_counts({"gpuplatform:kube:Namespace": 1, "kubernetes:core/v1:Namespace": 1, ...})
    assert recording.outputs == {"namespace": "jobs"}

``assert_resource`` compares all inputs, ``assert_counts`` seals the test: a resource nobody declared fails
it.
``run(program, preview=True)`` shows the same under preview, where ids are ``UNKNOWN``.

What it can't show: transforms and hooks are not run, plans and provider checks do not exist, and resource
errors of the cloud never happen. Those are for the engine tests.
"""

from tests.harness.recording import UNKNOWN, Options, Recorded, Recording
from tests.harness.run import PASSWORDS, run

__all__ = ["PASSWORDS", "UNKNOWN", "Options", "Recorded", "Recording", "run"]
