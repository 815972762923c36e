"""The drawing says what the resources say, and its boxes don't lie on each other."""

from itertools import combinations, pairwise

import pytest

from cli.diagram import graph
from cli.diagram.contracts import Contracts, by_type
from cli.diagram.graph import Arrow
from cli.diagram.layout import arrange
from cli.report.plan import read_plan
from tests.cli.report import recorded

ROOT = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"


def _urn(token: str, name: str) -> str:
    return f"urn:pulumi:dev::p::{token}::{name}"


def _resource(token: str, name: str, parent: str = ROOT, *needs: str) -> dict[str, object]:
    return {"urn": _urn(token, name), "type": token, "parent": parent, "dependencies": list(needs)}


def test_components_hand_on_what_their_annotations_say() -> None:
    found = by_type()
    # From the table of docs/components.md.
    assert found["gpuplatform:storage:Postgres"].gives == ("DatabaseEndpoint", "ServiceEndpoint")
    assert found["gpuplatform:mlops:ExperimentTracking"].takes == ("DatabaseEndpoint", "ObjectStore")
    assert found["gpuplatform:compute:SimulatedGpuPool"].gives == ("GpuPool",)
    assert found["gpuplatform:scheduling:GangQueue"] == Contracts(gives=("QueueRef",), takes=("GpuPool",))


@pytest.fixture(scope="module")
def recorded_graph() -> graph.Graph:
    plan = read_plan(recorded.digest())
    return graph.build(plan.resources, by_type(), {one.urn: one.operation for one in plan.changes})


def test_the_recorded_stack(recorded_graph: graph.Graph) -> None:
    boxes = {box.name: box for box in recorded_graph.boxes}
    assert sorted(boxes) == [
        *("data", "gpu", "job-rules", "jobs", "kueue", "mlops", "object-store", "pool-a100", "pool-h100"),
        *("postgres", "queue-research", "samples", "tracking", "volumes", "workbench"),
    ]
    assert (boxes["pool-h100"].mark, boxes["pool-h100"].goes) == ("delete", True)
    assert (boxes["gpu"].mark, boxes["gpu"].goes) == ("update", False)
    assert boxes["volumes"].mark == "replace"
    assert boxes["tracking"].mark == "update"
    assert boxes["postgres"].mark == ""
    assert boxes["postgres"].resources["StatefulSet"] == 1
    names = {box.urn: box.name for box in recorded_graph.boxes}
    flows = {
        (names[one.source], names[one.target], one.contracts)
        for one in recorded_graph.arrows
        if one.contracts
    }
    assert flows == {
        ("object-store", "tracking", ("ObjectStore",)),
        ("postgres", "tracking", ("DatabaseEndpoint",)),
        ("queue-research", "samples", ("QueueRef",)),
    }


def test_an_arrow_that_says_nothing_new_is_left_out() -> None:
    a, b, c = (_urn(f"gpuplatform:x:{name}", name) for name in "ABC")
    drawn = graph.build(
        [
            _resource("gpuplatform:x:A", "A"),
            _resource("gpuplatform:x:B", "B", ROOT, a),
            _resource("gpuplatform:x:C", "C", ROOT, a, b),
        ],
        {},
    )
    assert drawn.arrows == (Arrow(source=a, target=b), Arrow(source=b, target=c))


def test_nested_components_belong_to_the_outermost() -> None:
    outer = _urn("gpuplatform:x:Outer", "outer")
    inner = _urn("gpuplatform:kube:Workload", "inner")
    drawn = graph.build(
        [
            _resource("gpuplatform:x:Outer", "outer"),
            _resource("gpuplatform:kube:Workload", "inner", outer),
            _resource("kubernetes:core/v1:Secret", "one", inner),
            _resource("kubernetes:core/v1:Secret", "two", outer),
            _resource("kubernetes:core/v1:Pod", "stranger"),
        ],
        {},
    )
    (box,) = drawn.boxes
    assert (box.name, dict(box.resources)) == ("outer", {"Secret": 2})


def test_no_two_boxes_overlap_and_arrows_run_forward(recorded_graph: graph.Graph) -> None:
    sizes = {box.urn: (100.0, 40.0 + 5 * len(box.resources)) for box in recorded_graph.boxes}
    layout = arrange(recorded_graph, sizes, gap_x=50.0, gap_y=10.0, lane=4.0)
    for one, other in combinations(layout.places.values(), 2):
        apart = (
            one.x + one.width <= other.x
            or other.x + other.width <= one.x
            or one.y + one.height <= other.y
            or other.y + other.height <= one.y
        )
        assert apart
    assert len(layout.routes) == len(recorded_graph.arrows)
    for points in layout.routes.values():
        assert all(left[0] <= right[0] for left, right in pairwise(points))
    for place in layout.places.values():
        assert 0 <= place.x <= place.x + place.width <= layout.width
        assert 0 <= place.y <= place.y + place.height <= layout.height


def test_a_cycle_and_an_empty_stack_still_end() -> None:
    a, b = (_urn(f"gpuplatform:x:{name}", name) for name in "AB")
    drawn = graph.build(
        [_resource("gpuplatform:x:A", "A", ROOT, b), _resource("gpuplatform:x:B", "B", ROOT, a)], {}
    )
    arrange(drawn, {box.urn: (10.0, 10.0) for box in drawn.boxes}, gap_x=5.0, gap_y=5.0, lane=1.0)
    empty = arrange(graph.build([], {}), {}, gap_x=5.0, gap_y=5.0, lane=1.0)
    assert (empty.width, empty.height) == (0.0, 0.0)
