"""What the cluster runs in itself: name service, volumes of two storage classes, access rights of KWOK.

Not here: network policies are accepted by the API, but nothing on the node enforces them.
"""

import json
from collections.abc import Mapping

from lab.cluster.manifests import (
    LABELS,
    Manifest,
    account,
    binding,
    cluster_role,
    deployment,
    kubernetes_object,
    resources,
    rule,
    user,
)
from lab.cluster.records import Cluster

STORAGE_NAMESPACE = "local-path-storage"
PROVISIONER = "local-path-provisioner"
COREDNS = "coredns"
DEFAULT_CLASS = "standard"
# Datasets and checkpoints lie on different classes, and so in different directories.
STORAGE_CLASSES = (DEFAULT_CLASS, "fast")
PSA = "pod-security.kubernetes.io/enforce"


def manifests(cluster: Cluster) -> str:
    """Every object as one list, ready for ``kubectl apply``."""
    items = [
        *_kwok_access(),
        *_kube_router_access(),
        _kubelet_access(),
        *_coredns(cluster),
        *_local_path(cluster),
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def _kwok_access() -> list[Manifest]:
    rules = [
        rule("", "nodes", "get list watch"),
        rule("", "nodes/status pods/status", "patch update"),
        rule("", "pods", "get list watch delete patch update"),
        rule("", "events", "create patch update"),
        rule("coordination.k8s.io", "leases", "get list watch create update patch"),
    ]
    return cluster_role("gpu-platform:kwok", rules, user("gpu-platform:kwok"))


def _kube_router_access() -> list[Manifest]:
    rules = [
        rule("", "nodes namespaces pods services endpoints", "get list watch"),
        rule("discovery.k8s.io", "endpointslices", "get list watch"),
        rule("networking.k8s.io", "networkpolicies", "get list watch"),
    ]
    return cluster_role("gpu-platform:kube-router", rules, user("gpu-platform:kube-router"))


def _kubelet_access() -> Manifest:
    """The API server may ask the kubelet for logs and sessions."""
    return binding(
        "gpu-platform:kubelet-api", "system:kubelet-api-admin", user("kube-apiserver-kubelet-client")
    )


def corefile(cluster: Cluster) -> str:
    """Names of the cluster and of the host; all others do not exist, told at once."""
    return f"""cluster.local:53 in-addr.arpa:53 ip6.arpa:53 {{
  errors
  health :8080
  ready :8181
  prometheus :9153
  kubernetes cluster.local in-addr.arpa ip6.arpa {{
    pods insecure
    ttl 30
  }}
  cache 30
}}
gpu-platform.lab:53 {{
  errors
  hosts {{
    {cluster.network.host_address} host.gpu-platform.lab
  }}
}}
.:53 {{
  errors
  template ANY ANY {{
    rcode NXDOMAIN
  }}
}}
"""


def _coredns(cluster: Cluster) -> list[Manifest]:
    namespace, settings = "kube-system", {"Corefile": corefile(cluster)}
    rules = [
        rule("", "endpoints services pods namespaces", "list watch"),
        rule("discovery.k8s.io", "endpointslices", "list watch"),
    ]
    container = {
        "image": cluster.images[COREDNS],
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": [
            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
            {"name": "metrics", "containerPort": 9153, "protocol": "TCP"},
        ],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 2},
        "livenessProbe": {"httpGet": {"path": "/health", "port": 8080}, "failureThreshold": 5},
        "resources": resources("50m", "64Mi", "500m", "256Mi"),
        "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    ports = [
        {"name": "dns", "port": 53, "targetPort": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "targetPort": 53, "protocol": "TCP"},
        {"name": "metrics", "port": 9153, "targetPort": 9153, "protocol": "TCP"},
    ]
    server = deployment(COREDNS, namespace, container, settings)
    # Port 53 as everywhere: NetworkPolicies judge the port of the pod, not the one of the Service.
    unprivileged = {"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}
    template = server["spec"]["template"]
    template["spec"]["securityContext"]["sysctls"] = [unprivileged]
    # The label by which NetworkPolicies find the name service on every cluster.
    template["metadata"]["labels"]["k8s-app"] = "kube-dns"
    system = kubernetes_object("Namespace", namespace)
    system["metadata"]["labels"][PSA] = "restricted"
    return [
        system,
        kubernetes_object("ServiceAccount", COREDNS, namespace=namespace),
        *cluster_role("gpu-platform:coredns", rules, account(COREDNS, namespace)),
        kubernetes_object("ConfigMap", COREDNS, namespace=namespace, data=settings),
        server,
        kubernetes_object(
            "Service",
            "kube-dns",
            namespace=namespace,
            spec={
                "clusterIP": cluster.network.dns_address,
                "selector": {"app.kubernetes.io/name": COREDNS},
                "ports": ports,
            },
        ),
    ]


def _helper_pod(cluster: Cluster) -> Manifest:
    """Makes and empties volume directories: as root, for the files in them belong to any user."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "helper-pod", "labels": LABELS},
        "spec": {
            "automountServiceAccountToken": False,
            "containers": [
                {
                    "name": "helper-pod",
                    "image": cluster.images[PROVISIONER],
                    "imagePullPolicy": "IfNotPresent",
                    "resources": resources("10m", "16Mi", "500m", "64Mi"),
                    "securityContext": {
                        "runAsUser": 0,
                        "allowPrivilegeEscalation": False,
                        "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"], "add": ["DAC_OVERRIDE", "FOWNER"]},
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                }
            ],
        },
    }


def _local_path_settings(cluster: Cluster) -> Mapping[str, str]:
    classes = {
        name: {
            "nodePathMap": [
                {"node": "DEFAULT_PATH_FOR_NON_LISTED_NODES", "paths": [str(cluster.volumes / name)]}
            ]
        }
        for name in STORAGE_CLASSES
    }
    return {
        "config.json": json.dumps({"storageClassConfigs": classes}),
        "setup": '#!/bin/sh\nset -eu\nmkdir -m 0777 -p "$VOL_DIR"\n',
        "teardown": '#!/bin/sh\nset -eu\nrm -rf "$VOL_DIR"\n',
        "helperPod.yaml": json.dumps(_helper_pod(cluster)),
    }


def _local_path(cluster: Cluster) -> list[Manifest]:
    name, namespace, settings = PROVISIONER, STORAGE_NAMESPACE, _local_path_settings(cluster)
    rules = [
        rule("", "nodes persistentvolumeclaims configmaps pods pods/log", "get list watch"),
        rule("", "persistentvolumes", "get list watch create patch update delete"),
        rule("", "events", "create patch"),
        rule("storage.k8s.io", "storageclasses", "get list watch"),
    ]
    api = "rbac.authorization.k8s.io/v1"
    own_rules = [
        rule("", "pods", "get list watch create patch update delete"),
        rule("", "endpoints", "get list watch create patch update"),
        rule("coordination.k8s.io", "leases", "get list watch create patch update"),
    ]
    role = kubernetes_object("Role", name, api=api, namespace=namespace, rules=own_rules)
    role_reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    container = {
        "image": cluster.images[PROVISIONER],
        "args": ["start", "--config", "/etc/config/config.json", "--service-account-name", name,
                 "--provisioner-name", "rancher.io/local-path", "--helper-image", cluster.images[name],
                 "--configmap-name", name],
        "env": [
            {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
            {"name": "CONFIG_MOUNT_PATH", "value": "/etc/config/"},
        ],
        "resources": resources("10m", "64Mi", "200m", "128Mi"),
        "volumeMounts": [{"name": "config", "mountPath": "/etc/config", "readOnly": True}],
    }  # fmt: skip
    storage = kubernetes_object("Namespace", namespace)
    # Only helper pods need it: they mount the volumes' directory of the node.
    storage["metadata"]["labels"][PSA] = "privileged"
    return [
        storage,
        kubernetes_object("ServiceAccount", name, namespace=namespace),
        role,
        kubernetes_object("RoleBinding", name, api=api, namespace=namespace, roleRef=role_reference,
                subjects=[account(name, namespace)]),
        *cluster_role("gpu-platform:local-path-provisioner", rules, account(name, namespace)),
        kubernetes_object("ConfigMap", name, namespace=namespace, data=settings),
        deployment(name, namespace, container, settings),
        *(_storage_class(storage_class) for storage_class in STORAGE_CLASSES),
    ]  # fmt: skip


def _storage_class(name: str) -> Manifest:
    storage_class = kubernetes_object(
        "StorageClass",
        name,
        api="storage.k8s.io/v1",
        provisioner="rancher.io/local-path",
        volumeBindingMode="WaitForFirstConsumer",
        reclaimPolicy="Delete",
    )
    storage_class["metadata"]["annotations"] = {
        "storageclass.kubernetes.io/is-default-class": str(name == DEFAULT_CLASS).lower()
    }
    return storage_class
