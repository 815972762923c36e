"""Sample training: a small classifier on generated data, recorded in experiment tracking.

Runs inside the tracking server's image; configured by environment variables only (the sample Job sets
them). Logs parameters, a loss curve, metrics, the model with its signature, and registers a version of
it; then loads that version back from the registry and checks that it predicts the same. The last line
on standard output is one JSON object with the run id and the model version.

Needs no GPU: it proves tracking, registry and artifact storage, not speed.
"""

import hashlib
import json
import os
import sys
import time

import mlflow
import numpy as np
from mlflow.entities import Metric
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score, log_loss
from sklearn.model_selection import train_test_split

SAMPLES = 4000
FEATURES = 20
EPOCHS = 15
MIN_ACCURACY = 0.8


def dataset_hash(*arrays: np.ndarray) -> str:
    """SHA-256 over the exact bytes trained on."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def main() -> int:
    """Train, record, register, read back; 0 when everything held."""
    started = time.monotonic()
    seed = int(os.environ["SAMPLE_SEED"])
    model_name = os.environ["SAMPLE_MODEL"]
    mlflow.set_experiment(os.environ["SAMPLE_EXPERIMENT"])

    features, labels = make_classification(
        n_samples=SAMPLES, n_features=FEATURES, n_informative=8, class_sep=1.5, random_state=seed
    )
    x_train, x_test, y_train, y_test = train_test_split(features, labels, test_size=0.25, random_state=seed)
    params = {"seed": seed, "epochs": EPOCHS, "samples": SAMPLES, "features": FEATURES, "alpha": 1e-4}
    tags = {"dataset.sha256": dataset_hash(features, labels)}
    if commit := os.environ.get("SAMPLE_GIT_COMMIT"):
        tags["mlflow.source.git.commit"] = commit

    client = mlflow.MlflowClient()
    with mlflow.start_run(tags=tags) as run:
        mlflow.log_params(params)
        model = SGDClassifier(loss="log_loss", alpha=params["alpha"], random_state=seed)
        curve = []
        for epoch in range(EPOCHS):
            model.partial_fit(x_train, y_train, classes=np.unique(labels))
            loss = log_loss(y_train, model.predict_proba(x_train))
            curve.append(Metric("train_loss", loss, int(time.time() * 1000), epoch))
        predictions = model.predict(x_test)
        accuracy = float((predictions == y_test).mean())
        client.log_batch(run.info.run_id, metrics=curve)
        mlflow.log_metrics({"accuracy": accuracy, "f1": float(f1_score(y_test, predictions))})
        # Requirements are named because inferring them starts a second interpreter and doubles the time.
        logged = mlflow.sklearn.log_model(
            sk_model=model,
            name="model",
            registered_model_name=model_name,
            signature=mlflow.models.infer_signature(x_test, predictions),
            pip_requirements=["scikit-learn", "numpy"],
        )
        version = str(logged.registered_model_version)

    for key, value in tags.items():
        client.set_model_version_tag(model_name, version, key, value)
    loaded = mlflow.pyfunc.load_model(f"models:/{model_name}/{version}")
    same = bool((loaded.predict(x_test) == predictions).all())

    result = {
        "run_id": run.info.run_id,
        "experiment_id": run.info.experiment_id,
        "model": model_name,
        "model_version": version,
        "accuracy": round(accuracy, 4),
        "dataset_sha256": tags["dataset.sha256"],
        "loaded_model_predicts_the_same": same,
        "seconds": round(time.monotonic() - started, 1),
    }
    sys.stdout.write(json.dumps(result, sort_keys=True) + "\n")
    return 0 if same and accuracy >= MIN_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
