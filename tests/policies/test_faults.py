"""The good plan passes every rule, and each planted fault fails exactly the rule it is meant for."""

import pytest

from tests.policies.fault import PASSWORD, Fault
from tests.policies.faults import FAULTS
from tests.policies.good_plan import baseline
from tests.policies.gpu_faults import OPERATORS
from tests.policies.plans import BY_ID, judge


@pytest.mark.parametrize("rule", sorted(BY_ID))
def test_the_good_plan_keeps_the_rule(rule: str) -> None:
    verdict = judge(BY_ID[rule], baseline())
    assert verdict == (None if rule == "stateful" else ())


@pytest.mark.parametrize("fault", [*FAULTS, *OPERATORS], ids=lambda fault: fault.name)
def test_a_planted_fault_is_found_by_its_rule_alone(fault: Fault) -> None:
    plan = [*baseline(), *fault.added]
    spoken = {rule.id: findings for rule in BY_ID.values() if (findings := judge(rule, plan))}
    assert set(spoken) == {fault.rule, *fault.also}
    texts = [str(finding) for finding in spoken[fault.rule]]
    assert [text for text in texts if text.startswith(f"[{fault.check}]") and fault.says in text], texts
    assert {finding.check for finding in spoken[fault.rule]} == {fault.check}
    assert PASSWORD not in "".join(texts)


def test_fault_names_differ_and_every_rule_has_one() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.rule for fault in FAULTS} | {"stateful", "exemptions"} == set(BY_ID)
