"""What the tests put on the cluster: a page served from a volume, and a simulated node."""

import json

NAMESPACE = "lab-test"
# httpd serves what is on the volume: the page is only written when the volume is new.
SERVE = (
    "echo serving; [ -f /data/index.html ] || echo $PAGE > /data/index.html; touch /fast/mark;"
    "exec busybox httpd -f -p 8080 -h /data"
)


def workload(image: str) -> str:
    labels = {"app": "web"}
    restricted = {
        "runAsNonRoot": True,
        "runAsUser": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "web",
        "image": image,
        "command": ["/bin/sh", "-c", SERVE],
        "env": [{"name": "PAGE", "value": "first"}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": name, "mountPath": f"/{name}"} for name in ("data", "fast")],
        "readinessProbe": {"httpGet": {"path": "/index.html", "port": 8080}, "periodSeconds": 1},
    }
    pod = {
        "terminationGracePeriodSeconds": 1,
        "securityContext": restricted,
        "containers": [container],
        "volumes": [{"name": n, "persistentVolumeClaim": {"claimName": n}} for n in ("data", "fast")],
    }
    claims = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Mi"}},
                **({"storageClassName": name} if name == "fast" else {}),
            },
        }
        for name in ("data", "fast")
    ]
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": labels},
            "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    for item in (*claims, deployment, service):
        item["metadata"]["namespace"] = NAMESPACE  # type: ignore[index]
    return json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [namespace, *claims, deployment, service]}
    )


def simulated_node() -> str:
    resources = {"cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "sim-0", "annotations": {"kwok.x-k8s.io/node": "fake"}},
            "spec": {"taints": [{"key": "sim", "value": "true", "effect": "NoSchedule"}]},
            "status": {"allocatable": resources, "capacity": resources},
        }
    )


def default_deny(direction: str) -> str:
    """A NetworkPolicy that lets nothing through in one direction: ``Ingress`` or ``Egress``."""
    return json.dumps(
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": f"deny-{direction.lower()}", "namespace": NAMESPACE},
            "spec": {"podSelector": {}, "policyTypes": [direction]},
        }
    )
