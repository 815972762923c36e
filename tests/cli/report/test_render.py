"""The report tells the urgent first, and a hostile name stays a name."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any, cast
from xml.etree import ElementTree

import pytest

from cli.context import Context
from cli.diagram import graph, mermaid, svg
from cli.exits import Exit, Stop
from cli.forms import DiagramForm, ReportForm
from cli.report import markdown
from cli.report.command import rendered, report
from cli.report.plan import Change, Finding, Plan, read_plan
from lab.errors import LabError
from tests.cli.report import recorded

EVIL = (
    'x"]}</text><script>alert(1)</script>|`@team`![i](http://e.example/i)\n# h <!-- --> ;--> %%{init}%% &#60;'
)
NOWHERE = cast("Context", None)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return read_plan(recorded.digest(), recorded.events())


@pytest.fixture(scope="module")
def hostile() -> Plan:
    """Every name and text of the preview is hostile."""
    token = f"gpuplatform:{EVIL}:{EVIL}"
    urn = f"urn:pulumi:{EVIL}::p::{token}::{EVIL}"
    other = f"urn:pulumi:dev::p::kubernetes:core/v1:Secret::{EVIL}2"
    steps = [
        {"op": "update", "urn": urn, "newState": {"urn": urn, "type": token}, "diffReasons": [EVIL]},
        {
            "op": "delete",
            "urn": other,
            "oldState": {"urn": other, "type": EVIL, "parent": urn, "dependencies": [urn, 7]},
            "replaceReasons": [EVIL],
        },
    ]
    diagnostics = [{"severity": "error", "message": EVIL}]
    event = {
        "policyEvent": {"policyName": EVIL, "enforcementLevel": EVIL, "message": EVIL, "resourceUrn": EVIL}
    }
    return read_plan(json.dumps({"steps": steps, "diagnostics": diagnostics}), json.dumps(event))


def _in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


@pytest.mark.parametrize(
    ("form", "heading"), [(ReportForm.MARKDOWN, "### {}"), (ReportForm.HTML, "<h2>{}</h2>")]
)
def test_the_urgent_comes_first(plan: Plan, form: ReportForm, heading: str) -> None:
    text = rendered(plan, form)
    titles = ("Stateful resources", "Replaced and deleted", "Policies", "Updated", "Diagram")
    assert _in_order(text, "Data at risk: 1 stateful", *(heading.format(title) for title in titles))
    assert "Refused by policy: 4 mandatory" in text
    assert _in_order(text, "volumes-gpu-platform-jobs-checkpoints", "pool-h100-b0-r0-n0", "samples-manifests")


def test_no_value_of_a_property_gets_into_a_report(plan: Plan) -> None:
    # The claim's size and the queue's quota stand in the preview; only paths may stand in the report.
    assert "32" in recorded.digest()
    for form in ReportForm:
        text = rendered(plan, form)
        assert "spec.replicas" in text
        assert "5Gi" not in text
        assert "scram" not in text


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)


def test_hostile_names_stay_text_in_html(hostile: Plan) -> None:
    page = rendered(hostile, ReportForm.HTML)
    tags = _Tags()
    tags.feed(page)
    assert "script" not in tags.found
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_hostile_names_stay_text_in_markdown(hostile: Plan) -> None:
    text, _, drawn = rendered(hostile, ReportForm.MARKDOWN).partition("### Diagram")
    assert "<script" not in text
    assert "](" not in text
    assert "@team" not in text
    assert "`" not in text
    assert "http://" not in text
    assert not re.search(r"^# h", text, re.MULTILINE)
    for line in text.splitlines():
        if line.startswith("| **"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 5, line
    assert drawn.count("```") == 2


def test_hostile_names_stay_text_in_mermaid(hostile: Plan) -> None:
    drawn = mermaid.render(graph.build(hostile.resources, {}))
    (label,) = re.findall(r'c0\["(.*)"\]', drawn)
    assert not set('"[]{}|`\\') & set(label)
    assert set(re.findall(r"<[^>]*>", label)) <= {"<b>", "</b>", "<br/>", "<i>", "</i>"}
    assert all(line.startswith(("flowchart", "  subgraph", "    c", "  end")) for line in drawn.splitlines())


def test_hostile_names_stay_text_in_svg(hostile: Plan) -> None:
    root = ElementTree.fromstring(svg.render(graph.build(hostile.resources, {}), title=EVIL))  # noqa: S314
    names = {element.tag.rsplit("}", 1)[-1] for element in root.iter()}
    assert names <= {"svg", "title", "rect", "g", "text", "path"}


def test_json_holds_the_same(plan: Plan) -> None:
    told = json.loads(rendered(plan, ReportForm.JSON))
    assert told["counts"] == {"replace": 1, "delete": 6, "update": 3, "same": 108}
    assert told["changes"][0]["holds"] == "data"
    assert (told["failed"], told["policiesKnown"], len(told["findings"])) == (True, True, 4)


def _plan(changes: int) -> Plan:
    many = tuple(
        Change(urn=f"u{number}", type="t" * 50, name="n" * 400, operation="update", paths=("p" * 500,))
        for number in range(changes)
    )
    return Plan(stack="dev", changes=many, unchanged=0)


def test_a_report_fits_a_comment_and_tells_what_is_left_out() -> None:
    long = markdown.render(_plan(300), "flowchart LR\n")
    assert len(long) < 65_536
    assert "Cut off here" in long
    assert "mermaid" not in long
    assert "too large for a comment" in markdown.render(_plan(1), "x" * 70_000)


def test_nothing_to_do_is_said() -> None:
    text = rendered(read_plan('{"steps": [], "changeSummary": {"same": 118}}', ""), ReportForm.MARKDOWN)
    assert "nothing changes, 118 unchanged." in text
    assert "No finding." in text
    assert "Not known" in rendered(read_plan('{"steps": []}'), ReportForm.HTML)


def test_an_advisory_finding_fails_nothing() -> None:
    finding = {"policyEvent": {"policyName": "p", "enforcementLevel": "advisory", "message": "m"}}
    plan = read_plan('{"steps": []}', json.dumps(finding))
    assert not plan.failed
    assert plan.findings == (Finding(policy="p", level="advisory", severity="", urn="", message="m"),)


@pytest.fixture
def files(tmp_path: Any) -> Callable[[], tuple[Any, Any]]:
    def write() -> tuple[Any, Any]:
        digest, events = tmp_path / "preview.json", tmp_path / "events"
        digest.write_text(recorded.digest())
        events.write_text(recorded.events())
        return digest, events

    return write


def test_the_command_reads_files_writes_a_file_and_fails_with_the_preview(tmp_path: Any, files: Any) -> None:
    digest, events = files()
    out = tmp_path / "report.md"
    with pytest.raises(Stop) as stopped:
        report(NOWHERE, ReportForm.MARKDOWN, file=digest, events=events, out=out)
    assert stopped.value.code == Exit.FAILED
    assert out.read_text().startswith("## Preview of dev")


def test_files_that_can_not_be_read_or_written_are_told(tmp_path: Any, files: Any) -> None:
    digest, _ = files()
    with pytest.raises(LabError, match="can't be read"):
        report(NOWHERE, ReportForm.HTML, file=tmp_path / "none.json", events=None, out=None)
    with pytest.raises(LabError, match="can't be written"):
        report(NOWHERE, ReportForm.HTML, file=digest, events=None, out=tmp_path / "no" / "report.html")


def test_the_diagram_of_a_preview(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from cli.diagram.command import diagram

    digest, _ = files()
    diagram(NOWHERE, DiagramForm.SVG, file=digest, out=None)
    ElementTree.fromstring(capsys.readouterr().out)  # noqa: S314
