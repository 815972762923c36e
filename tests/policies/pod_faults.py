"""Faults planted in pods and their environment."""

import base64
from dataclasses import replace
from typing import Any

from tests.policies.fault import PASSWORD, Fault, pod_fault
from tests.policies.manifests import POD_TEMPLATE, Marked, Resource, changed, deployment, metadata, release

_MAIN, _INIT, _CONTEXT = "spec.containers.0", "spec.initContainers.0", "spec.securityContext"
PODS = (
    replace(
        pod_fault("host-network", "spec.hostNetwork", True, "spec.template.spec.hostNetwork is true"),
        also=frozenset({"exposure"}),
    ),
    replace(
        pod_fault("host-ports", f"{_MAIN}.ports.0.hostPort", 80.0, "ports[0].hostPort is 80"),
        also=frozenset({"exposure"}),
    ),
    pod_fault("host-pid", "spec.hostPID", True, "spec.template.spec.hostPID is true"),
    pod_fault("host-ipc", "spec.hostIPC", True, "hostIPC is true"),
    pod_fault("host-process", f"{_CONTEXT}.windowsOptions", {"hostProcess": True}, "hostProcess is true"),
    pod_fault("selinux", f"{_CONTEXT}.seLinuxOptions", {"type": "spc_t"}, "type is 'spc_t'"),
    pod_fault("apparmor", f"{_CONTEXT}.appArmorProfile", {"type": "Unconfined"}, "'Unconfined'"),
    pod_fault("seccomp", f"{_CONTEXT}.seccompProfile", {"type": "Unconfined"}, "'Unconfined'"),
    pod_fault("run-as-user", f"{_CONTEXT}.runAsUser", 0.0, "runAsUser is 0"),
    pod_fault("run-as-non-root", f"{_CONTEXT}.runAsNonRoot", False, "runAsNonRoot is false"),
    pod_fault("sysctls", f"{_CONTEXT}.sysctls", [{"name": "kernel.msgmax", "value": "1"}], "'kernel.msgmax'"),
    pod_fault("volumes", "spec.volumes.1.hostPath", {"path": "/etc"}, "spec.volumes[scratch] is a hostPath"),
    pod_fault(
        "volumes",
        "spec.volumes.1",
        {"name": "scratch", "csi": {"driver": "csi.example.org"}},
        "spec.volumes[scratch] is a csi",
        suffix="-csi",
    ),
    pod_fault(
        "privileged", f"{_MAIN}.securityContext.privileged", True, "spec.containers[main].securityContext"
    ),
    pod_fault(
        "privileged", f"{_INIT}.securityContext.privileged", True, "spec.initContainers[init]", suffix="-init"
    ),
    pod_fault("privilege-escalation", f"{_MAIN}.securityContext.allowPrivilegeEscalation", None, "is absent"),
    pod_fault("proc-mount", f"{_MAIN}.securityContext.procMount", "Unmasked", "'Unmasked'"),
    pod_fault("capabilities", f"{_MAIN}.securityContext.capabilities.drop", ["NET_RAW"], "does not drop ALL"),
    pod_fault(
        "capabilities",
        f"{_MAIN}.securityContext.capabilities.add",
        ["SYS_ADMIN"],
        "adds SYS_ADMIN",
        suffix="-add",
    ),
    pod_fault(
        "host-probes", f"{_MAIN}.livenessProbe.httpGet.host", "example.org", "livenessProbe.httpGet.host is"
    ),
    pod_fault("resources", f"{_MAIN}.resources.limits.memory", None, "lacks limits.memory"),
    pod_fault(
        "resources",
        f"{_INIT}.resources.requests",
        None,
        "lacks requests.cpu, requests.memory",
        suffix="-init",
    ),
    pod_fault("resources", f"{_MAIN}.resources.limits.cpu", "0m", "has limits.cpu '0m'", suffix="-zero"),
    pod_fault("resources", f"{_MAIN}.resources.limits.memory", 0, "has limits.memory 0", suffix="-none"),
    replace(pod_fault("spec", "spec", None, "spec.template.spec is missing"), also=frozenset({"exposure"})),
    Fault(
        rule="pods",
        check="privileged",
        says="chart:sample/Deployment/team/pods-chart",
        added=(release("pods-chart", privileged=True),),
    ),
    Fault(
        rule="pods",
        check="patch",
        says="can't be judged",
        added=(replace(deployment("pods-patch"), type="kubernetes:apps/v1:DeploymentPatch"),),
    ),
    Fault(
        rule="pods",
        check="privileged",
        says="Job/team/pods-job",
        added=(
            replace(
                deployment("pods-job", changed(POD_TEMPLATE, f"{_MAIN}.securityContext.privileged", True)),
                type="kubernetes:batch/v1:Job",
            ),
        ),
    ),
    Fault(
        rule="pods",
        check="privileged",
        says="pods-predictor: spec.predictor.containers[main].securityContext.privileged",
        added=(
            Resource(
                name="pods-predictor",
                type="kubernetes:serving.kserve.io/v1beta1:InferenceService",
                props={
                    "metadata": metadata("pods-predictor"),
                    "spec": {
                        "predictor": changed(
                            POD_TEMPLATE["spec"], "containers.0.securityContext.privileged", True
                        )
                    },
                },
            ),
        ),
    ),
    Fault(
        rule="pods",
        check="privileged",
        says="JobSet/team/pods-jobset: spec.replicatedJobs[0].template.spec.template.spec",
        added=(
            Resource(
                name="pods-jobset",
                type="kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
                props={
                    "apiVersion": "jobset.x-k8s.io/v1alpha2",
                    "kind": "JobSet",
                    "metadata": metadata("pods-jobset"),
                    "spec": {
                        "replicatedJobs": [
                            {
                                "template": {
                                    "spec": {
                                        "template": changed(
                                            POD_TEMPLATE, f"{_MAIN}.securityContext.privileged", True
                                        )
                                    }
                                }
                            }
                        ]
                    },
                },
            ),
        ),
    ),
)


def _env(check: str, entry: dict[str, Any], suffix: str = "") -> Fault:
    where = f"{_MAIN}.env"
    return pod_fault(check, where, [entry], f"[{check}]", rule="pods-secrets", suffix=suffix)


def _command(check: str, field: str, value: Any, says: str, suffix: str) -> Fault:
    return pod_fault(check, f"{_MAIN}.{field}", value, says, rule="pods-secrets", suffix=suffix)


def _config_map(check: str, name: str, says: str, **content: Any) -> Fault:
    name = f"pods-secrets-{name}"
    props = {"metadata": metadata(name), **content}
    resource = Resource(name=name, type="kubernetes:core/v1:ConfigMap", props=props)
    return Fault(rule="pods-secrets", check=check, says=says, added=(resource,))


_ENCODED = base64.b64encode(PASSWORD.encode()).decode()
_SETTINGS = f"db:\n  user: web\n  password: {PASSWORD}\n"
SECRETS = (
    _env("env", {"name": "DB_PASSWORD", "value": PASSWORD}),
    _env("env", {"name": "GITHUB_TOKEN", "value": PASSWORD}, "-token"),
    _env("env", {"name": "AWS_SECRET_ACCESS_KEY", "value": PASSWORD}, "-key"),
    _env("url", {"name": "DB_URL", "value": f"postgresql://user:{PASSWORD}@db/x"}),
    _env("pulumi-secret", {"name": "MODE", "value": Marked(PASSWORD)}),
    pod_fault(
        "env", f"{_MAIN}.args", [f"--db-password={PASSWORD}"], "args[0]", rule="pods-secrets", suffix="-args"
    ),
    _env("env", {"name": "DB_PASS", "value": PASSWORD}, "-pass"),
    _env("shape", {"name": "CREDS", "value": "AKIA" + "A" * 16}, "-shape"),
    _command("env", "args", ["serve", "--db-password", PASSWORD], "args[2]", "-next"),
    _command("command", "command", ["sh", "-c", f"PGPASSWORD={PASSWORD} psql"], "gives PGPASSWORD", "-shell"),
    _command(
        "command",
        "livenessProbe",
        {"exec": {"command": ["sh", "-c", f"redis-cli --pass {PASSWORD} ping"]}},
        "livenessProbe.exec.command[2] gives pass",
        "-probe",
    ),
    _command(
        "env",
        "readinessProbe",
        {"httpGet": {"port": 80, "httpHeaders": [{"name": "Authorization", "value": PASSWORD}]}},
        "readinessProbe.httpGet.httpHeaders[0]",
        "-header",
    ),
    _config_map("env", "binary", "binaryData[DB_PASSWORD]", binaryData={"DB_PASSWORD": _ENCODED}),
    _config_map("config-map", "file", "data[app.yaml] gives password", data={"app.yaml": _SETTINGS}),
    Fault(
        rule="pods-secrets",
        check="env",
        says="data[DB_PASSWORD]",
        added=(
            Resource(
                name="pods-secrets-config-map",
                type="kubernetes:core/v1:ConfigMap",
                props={"metadata": metadata("settings"), "data": {"DB_PASSWORD": PASSWORD}},
            ),
        ),
    ),
)
