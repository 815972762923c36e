"""Reading a job's result from its log."""

import pytest

from cli.judge import last_json_line


@pytest.mark.parametrize(
    ("log", "result"),
    [
        ('noise\n{"run_id": "a"}\n', {"run_id": "a"}),
        ('{"run_id": "old"}\nnoise\n{"run_id": "new"}\ntrailing\n', {"run_id": "new"}),
        ("", {}),
        ("no result\n", {}),
        ('{"run_id": "cut', {}),
    ],
)
def test_the_last_json_line_is_the_result(log: str, result: dict[str, str]) -> None:
    assert last_json_line(log) == result
