"""What the tests of experiment tracking share."""

from typing import Any

from components.contracts import DatabaseEndpoint, ObjectStore, SecretRef
from components.core import Ownership
from components.kube import Pods
from components.mlops import ExperimentTracking, ExperimentTrackingArgs
from tests.harness import Recording, run

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SECRET = "kubernetes:core/v1:Secret"
PASSWORD = "random:index/randomPassword:RandomPassword"
POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
MADE = {PASSWORD: {"result": "made-for-{name}"}}
OWNERSHIP = Ownership(
    owner="ml", project="vision", environment="dev", cost_centre="research", contact="ml@example.com"
)
ROLE = SecretRef(name="postgres-role", keys={"username": "username", "password": "password"})
KEY = SecretRef(name="store-key", keys={"access_key_id": "id", "secret_access_key": "key"})
JOBS = Pods(namespace="jobs")


def database(name: str, credentials: SecretRef = ROLE, *, tls: bool = False) -> DatabaseEndpoint:
    return DatabaseEndpoint(
        host="postgres.data.svc", port=5432, database=name, credentials=credentials, tls=tls
    )


def arguments(**changes: Any) -> ExperimentTrackingArgs:
    base: dict[str, Any] = {
        "namespace": "mlops",
        "ownership": OWNERSHIP,
        "image": "registry.example/mlflow:3",
        "database": database("mlflow"),
        "login_database": database("mlflow_auth"),
        "object_store": ObjectStore(
            endpoint="http://store.data.svc:7070", bucket="models", region="eu-1", credentials=KEY
        ),
        "clients": (JOBS,),
    }
    return ExperimentTrackingArgs(**(base | changes))


def record(*, preview: bool = False, **changes: Any) -> Recording:
    def program() -> dict[str, Any]:
        made = ExperimentTracking("tracking", arguments(**changes))
        endpoint, metrics = made.tracking.endpoint, made.tracking.metrics
        return {
            "url": made.url,
            "endpoint": [
                endpoint.namespace,
                endpoint.service,
                endpoint.port,
                endpoint.health_path,
                endpoint.auth,
            ],
            "metrics": [metrics.namespace, metrics.service, metrics.port, metrics.path, metrics.job],
            "credentials": [made.tracking.credentials.name, dict(made.tracking.credentials.keys)],
            "admin": made.admin.name,
        }

    return run(program, made=MADE, preview=preview)


def pod(recording: Recording) -> Any:
    return recording.one(DEPLOYMENT, "tracking-server-deployment").inputs["spec"]["template"]["spec"]


def secret_env(name: str, secret: str, key: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
