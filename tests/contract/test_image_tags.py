"""Settings and the policy `images` judge the same references the same: what one accepts the other must."""

import re

import pytest
from pydantic import TypeAdapter, ValidationError

from policies.rules import images as policy
from stacks.config import images as settings
from stacks.config.fields import ImageReference
from tests.policies.manifests import changed, deployment
from tests.policies.plans import facts, planned

HASH = "0708d2e"
DIGEST = f"@sha256:{'0a' * 32}"
# Reference behind an allowed registry, and whether its tag names one release for good.
REFERENCES = {
    "mlflow:v3.17.2-full": True,
    "mlflow:15.14-bookworm": True,
    f"mlflow:{HASH}": True,
    "mlflow:20261130": True,
    f"mlflow{DIGEST}": True,
    f"mlflow:latest{DIGEST}": True,
    "mlflow:1.2-dev2": True,
    "mlflow": False,
    "mlflow:latest": False,
    "mlflow:v3-latest": False,
    "mlflow:3.17-latest": False,
    "mlflow:15": False,
    "mlflow:v3": False,
    "mlflow:stable": False,
    "mlflow:rolling": False,
    "mlflow:main": False,
    "mlflow:1.2.3-nightly": False,
    "mlflow:Edge": False,
    "mlflow:abcdefa": False,
    "mlflow:20-SNAPSHOT": False,
    "mlflow:v1.2_dev": False,
}


def _settings_accept(reference: str) -> bool:
    try:
        TypeAdapter(ImageReference).validate_python(reference)
    except ValidationError:
        return False
    return True


def _policy_accepts(reference: str) -> bool:
    workload = deployment("web")
    props = changed(workload.props, "spec.template.spec.containers.0.image", reference)
    plan = planned(type(workload)(type=workload.type, name=workload.name, props=props))
    verdict = policy.RULE.check_resource
    assert verdict is not None
    return not verdict(plan, facts())


@pytest.mark.parametrize(("name", "exact"), REFERENCES.items())
def test_both_judge_a_reference_the_same(name: str, exact: bool) -> None:
    reference = f"ghcr.io/mlflow/{name}"
    assert (_settings_accept(reference), _policy_accepts(reference)) == (exact, exact)


def test_both_have_one_rule() -> None:
    def patterns(module: object) -> list[re.Pattern[str]]:
        return [getattr(module, name) for name in ("_EXACT_TAG", "_MOVING_WORD")]

    assert patterns(settings) == patterns(policy)
