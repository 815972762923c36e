"""Volumes for data sets and checkpoints."""

from dataclasses import replace
from typing import Any

import pytest

from components.contracts import Purpose, StorageMount
from components.core import ArgsError, Ownership
from components.storage import AccessMode, SharedVolumes, SharedVolumesArgs, VolumeArgs
from tests.harness import run

CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
OWNERSHIP = Ownership(
    owner="ml", project="vision", environment="dev", cost_centre="research", contact="ml@example.com"
)
DATASETS = VolumeArgs(claim="datasets", storage_class="standard", size_gib=5)
CHECKPOINTS = VolumeArgs(
    claim="checkpoints", storage_class="fast", size_gib=7, access_mode=AccessMode.MANY_NODES
)


def arguments(**changes: Any) -> SharedVolumesArgs:
    base: dict[str, Any] = {
        "namespaces": ("jobs",),
        "ownership": OWNERSHIP,
        "datasets": DATASETS,
        "checkpoints": CHECKPOINTS,
    }
    return SharedVolumesArgs(**(base | changes))


def test_claims_lie_on_different_classes_and_are_kept() -> None:
    recording = run(lambda: SharedVolumes("volumes", arguments()).mounts[0].claim)
    labels = OWNERSHIP.labels()
    annotations = OWNERSHIP.annotations() | {"pulumi.com/skipAwait": "true"}
    for purpose, mode, storage_class, size in (
        ("datasets", "ReadWriteOnce", "standard", "5Gi"),
        ("checkpoints", "ReadWriteMany", "fast", "7Gi"),
    ):
        claim = recording.assert_resource(
            CLAIM,
            f"volumes-jobs-{purpose}",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": purpose,
                    "namespace": "jobs",
                    "labels": labels | {"gpu-platform/purpose": purpose},
                    "annotations": annotations,
                },
                "spec": {
                    "accessModes": [mode],
                    "resources": {"requests": {"storage": size}},
                    "storageClassName": storage_class,
                },
            },
            parent="volumes",
        )
        assert (claim.options.protect, claim.options.retain_on_delete) == (True, True)
    recording.assert_counts({"gpuplatform:storage:SharedVolumes": 1, CLAIM: 2})
    assert recording.outputs == "datasets"


def test_mounts_tell_jobs_what_there_is() -> None:
    mounts: list[StorageMount] = []
    run(lambda: mounts.extend(SharedVolumes("volumes", arguments(namespaces=("b", "a"))).mounts))
    assert [(m.namespace, m.purpose, m.storage_class, m.size_gib, m.access_mode) for m in mounts] == [
        ("a", Purpose.DATASETS, "standard", 5, "ReadWriteOnce"),
        ("a", Purpose.CHECKPOINTS, "fast", 7, "ReadWriteMany"),
        ("b", Purpose.DATASETS, "standard", 5, "ReadWriteOnce"),
        ("b", Purpose.CHECKPOINTS, "fast", 7, "ReadWriteMany"),
    ]


def test_unprotected_claims_inherit() -> None:
    recording = run(lambda: SharedVolumes("volumes", arguments(protect=False)))
    assert {claim.options.protect for claim in recording.of_type(CLAIM)} == {None}
    assert {claim.options.retain_on_delete for claim in recording.of_type(CLAIM)} == {None}


def test_two_instances_and_a_preview_make_the_same_claims() -> None:
    def program() -> None:
        SharedVolumes("one", arguments())
        SharedVolumes("two", arguments(namespaces=("other",)))

    done, planned = run(program), run(program, preview=True)
    done.assert_counts({"gpuplatform:storage:SharedVolumes": 2, CLAIM: 4})
    assert {r.name: r.inputs for r in planned.resources} == {r.name: r.inputs for r in done.resources}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"checkpoints": replace(CHECKPOINTS, storage_class="standard")},
            "checkpoints.storage_class: got 'standard', the same",
        ),
        (
            {"checkpoints": replace(CHECKPOINTS, claim="datasets")},
            "checkpoints.claim: got 'datasets', the same",
        ),
        ({"datasets": replace(DATASETS, size_gib=0)}, "datasets.size_gib: got 0"),
        ({"datasets": replace(DATASETS, storage_class="")}, "datasets.storage_class: got nothing"),
        ({"datasets": replace(DATASETS, claim="Data")}, "datasets.claim: got 'Data'"),
        ({"namespaces": ()}, "namespaces: got nothing"),
        ({"namespaces": ("Jobs",)}, "namespaces: got 'Jobs'"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        arguments(**changes)
    assert message in str(caught.value)


def test_all_problems_come_at_once() -> None:
    with pytest.raises(ArgsError, match=r"3 problem\(s\)"):
        arguments(namespaces=(), datasets=VolumeArgs(claim="checkpoints", storage_class="fast", size_gib=1))
