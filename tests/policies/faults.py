"""One planted fault per check of each rule: what is added to the good plan, and what must be said of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.policies.cluster_faults import CLUSTER
from tests.policies.fault import Fault, altered, pod_fault
from tests.policies.gpu_faults import GPU
from tests.policies.gpu_manifests import nodes
from tests.policies.manifests import (
    COST,
    POD_TEMPLATE,
    Later,
    Resource,
    changed,
    claim,
    default_deny,
    deployment,
    metadata,
    namespace,
    quota,
    release,
    service,
)
from tests.policies.pod_faults import PODS, SECRETS

_BARE = Resource(
    name="labels-ownership",
    type="kubernetes:core/v1:ConfigMap",
    props={"metadata": {"name": "bare", "namespace": "team", "labels": {**COST, "gpu-platform/owner": ""}}},
)
_UNSTABLE_TEMPLATE = {**POD_TEMPLATE, "metadata": {"labels": {}}}

LABELS = (
    Fault(rule="labels", check="ownership", says="lacks gpu-platform/owner;", added=(_BARE,)),
    Fault(
        rule="labels",
        check="ownership",
        says="spec.template.metadata.labels lacks gpu-platform/owner, gpu-platform/project",
        added=(deployment("labels-template", _UNSTABLE_TEMPLATE),),
    ),
)

_MAIN = "spec.containers.0"


def _image(check: str, image: Any, says: str, suffix: str = "") -> Fault:
    return pod_fault(check, f"{_MAIN}.image", image, says, rule="images", suffix=suffix)


IMAGES = (
    _image("tag", "registry.k8s.io/kueue/kueue", "without a tag"),
    _image("tag", "registry.k8s.io/kueue/kueue:latest", "'latest' can move", "-latest"),
    _image("tag", "docker.io/library/postgres:15", "'15' can move", "-major"),
    _image("digest", "registry.k8s.io/kueue/kueue@sha256:abc", "malformed digest"),
    _image("registry", "example.org/team/web:1.2.3", "from example.org/team/web"),
    _image("registry", "somebody/web:1.2.3", "from docker.io/somebody/web", "-short"),
    _image("reference", "UPPER/case image", "'UPPER/case image'"),
    _image("reference", "registry.k8s.io/../evil/web:1.2.3", "'registry.k8s.io/../evil/web:1.2.3'", "-dots"),
    _image("reference", "registry.k8s.io/pause:3.10\n", "pause:3.10", "-newline"),
    _image("reference", "Registry.k8s.io/pause:3.10", "'Registry.k8s.io/pause:3.10'", "-capital"),
    _image("reference", Later(), "not proven: spec.template.spec.containers[0].image", "-later"),
    Fault(
        rule="images",
        check="tag",
        says="chart:sample/Deployment/team/images-chart",
        added=(release("images-chart", image={"tag": "latest"}),),
    ),
    Fault(
        rule="images",
        check="registry",
        says="values.worker is 'example.org/worker:1.2.3'",
        added=(release("images-values", worker={"repository": "example.org/worker", "tag": "1.2.3"}),),
    ),
)

EXPOSURE = (
    Fault(
        rule="exposure",
        check="service-type",
        says="'LoadBalancer'",
        added=(altered(service("exposure-balancer"), "spec.type", "LoadBalancer"),),
    ),
    Fault(
        rule="exposure",
        check="service-type",
        says="'NodePort'",
        added=(altered(service("exposure-node-port"), "spec.type", "NodePort"),),
    ),
    Fault(
        rule="exposure",
        check="external-address",
        says="spec.externalIPs is set",
        added=(altered(service("exposure-external"), "spec.externalIPs", ["192.0.2.1"]),),
    ),
    Fault(
        rule="exposure",
        check="ingress",
        says="Ingress lets the outside in",
        added=(
            Resource(
                name="exposure-ingress",
                type="kubernetes:networking.k8s.io/v1:Ingress",
                props={"metadata": metadata("web"), "spec": {}},
            ),
        ),
    ),
    Fault(
        rule="exposure",
        check="service-type",
        says="chart:sample/Service/team/exposure-chart",
        added=(release("exposure-chart", serviceType="NodePort"),),
    ),
)

NAMESPACES = (
    Fault(
        rule="namespaces",
        check="pod-security",
        says="is baseline",
        added=(
            altered(
                namespace("namespaces-label"),
                "metadata.labels.pod-security~kubernetes~io/enforce",
                "baseline",
            ),
            quota("namespaces-label"),
            default_deny("namespaces-label"),
        ),
    ),
    Fault(
        rule="namespaces",
        check="quota",
        says="accepted: a ResourceQuota",
        added=(namespace("namespaces-quota"), default_deny("namespaces-quota")),
    ),
    Fault(
        rule="namespaces",
        check="default-deny",
        says="accepted: a NetworkPolicy",
        added=(
            namespace("namespaces-deny"),
            quota("namespaces-deny"),
            altered(default_deny("namespaces-deny"), "spec.policyTypes", ["Ingress"]),
        ),
    ),
    Fault(
        rule="namespaces",
        check="own-namespace",
        says="'kube-public', which is not of this plan",
        added=(altered(deployment("namespaces-home"), "metadata.namespace", "kube-public"),),
    ),
    Fault(
        rule="namespaces",
        check="create-namespace",
        says="createNamespace makes",
        added=(altered(release("namespaces-release"), "createNamespace", True),),
    ),
)

_ONE_CLAIM = changed(
    changed(POD_TEMPLATE, "spec.volumes.0.name", "all"),
    f"{_MAIN}.volumeMounts",
    [
        {"name": "all", "mountPath": "/datasets"},
        {"name": "all", "mountPath": "/checkpoints", "subPath": "run"},
    ],
)
SPLIT = (
    Fault(
        rule="storage-split",
        check="class",
        says="shares checkpoints-class",
        added=(replace(claim("datasets", "checkpoints-class"), name="storage-split-class"),),
    ),
    Fault(
        rule="storage-split",
        check="mount",
        says="claim 'datasets' is mounted for datasets and checkpoints",
        added=(deployment("storage-split-mount", _ONE_CLAIM),),
    ),
)

FABRIC = (
    Fault(
        rule="fabric",
        check="fabric",
        says="'large' has 5 nodes on ethernet-100",
        added=tuple(nodes("large", 5, gpu_platform__fabric="ethernet-100")),
    ),
    Fault(
        rule="fabric",
        check="fabric",
        says="'multi' is marked for multi-node training on ethernet-100",
        added=tuple(nodes("multi", 1, gpu_platform__fabric="ethernet-100", gpu_platform__multi_node="true")),
    ),
    Fault(
        rule="fabric",
        check="fabric",
        says="not proven: pool 'unsaid' is marked",
        added=tuple(nodes("unsaid", 1, gpu_platform__multi_node="true")),
    ),
)

CHARTS = (
    Fault(
        rule="charts",
        check="render",
        says="not proven: values.worker.tag is not known during preview",
        added=(altered(release("charts-later", worker={"tag": Later()}), "allowNullValues", True),),
    ),
    Fault(
        rule="charts",
        check="render",
        says="not proven: helm template of",
        added=(release("charts-broken", broken=True),),
    ),
    Fault(
        rule="charts-values",
        check="hidden-values",
        says="its values depend on cluster and vanish",
        added=(altered(release("charts-hidden", worker={"tag": Later()}), "version", "1.0.0"),),
    ),
)

FAULTS: Sequence[Fault] = (
    *LABELS,
    *PODS,
    *SECRETS,
    *IMAGES,
    *EXPOSURE,
    *NAMESPACES,
    *SPLIT,
    *FABRIC,
    *CHARTS,
    *CLUSTER,
    *GPU,
)
