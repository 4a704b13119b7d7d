"""Gantt charts of levels, and of the expected and the given schedule of a trial."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

from pytest_taskgraph.diagram import Diagram, DiagramBar
from pytest_taskgraph.notations import notation
from pytest_taskgraph.reports.drawing.diagram_text import diagram_lines
from pytest_taskgraph.reports.drawing.gantt import gantt_lines, schedule_charts
from pytest_taskgraph.reports.drawing.svg import svg
from pytest_taskgraph.reports.drawing.svg_pair import draw_schedules
from pytest_taskgraph.scoring.schedules import Schedule
from pytest_taskgraph.trial import Json, Question, Reply, Score, Trial
from pytest_taskgraph.workflow.workflow_diagram import diagram

SVG = "{http://www.w3.org/2000/svg}"
MEAL = Schedule(("Wash", "Chop", "Fry"), (3, 5, 4), ((0, 2), (1, 2)), 2, 9, "minutes", (0, 0, 5))
TEXT = """package main;
workflow W {
  START -> PARALLEL_1; PARALLEL_1 -> A -> PARALLEL_END_1; PARALLEL_1 -> B -> PARALLEL_END_1; PARALLEL_END_1 -> C -> END;
  task A { duration 90 minutes; } task B { duration 2 hours; } task C { duration 30 minutes; }
}
"""


def trial(**starts: int) -> Trial:
    """Return a trial whose answer has these starts."""
    given: Json = {"tasks": [*starts], "starts": [*starts.values()]}
    asked = Question("q", "f", "g", "s", "When?", "When?", "schedule", MEAL.to_json(), "constraints")
    return Trial(asked, "m", "wrong", Reply("so"), Score(0.5, given=given))


def test_lines_of_given_schedule_mark_what_breaks_a_constraint() -> None:
    charts = schedule_charts(trial(Wash=0, Fry=4, Mop=2))
    assert charts is not None
    assert gantt_lines(charts[0]) == [
        "Expected schedule, 2 workers, for example (in minutes, limit 9)",
        "  Wash  ============........................  0–3",
        "  Chop  ====================................  0–5",
        "  Fry   ....................================  5–9",
    ]
    assert gantt_lines(charts[1]) == [
        "Given schedule, 2 workers (in minutes, limit 9)",
        "  Wash  ============........................  0–3",
        "  Chop  ....................................  no start  # missing from the answer",
        "  Fry   ................================....  4–8",
        "  Mop   ........|...........................  2  # not expected",
    ]


def test_both_charts_have_the_same_scale() -> None:
    charts = schedule_charts(trial(Wash=0, Chop=0, Fry=16))
    assert charts is not None
    assert [(chart.first, chart.end) for chart in charts] == [(0, 20), (0, 20)]
    assert gantt_lines(charts[1])[-1].endswith("=======  16–20  # breaks a constraint")


def test_pair_counts_marks_and_describes_faults_in_words() -> None:
    pair = draw_schedules(trial(Wash=0, Chop=0, Fry=4, Mop=2))
    assert pair is not None
    assert (pair.missing, pair.extra, pair.same, pair.broken) == ("", "1 task", "", "1 task")
    given = ElementTree.fromstring(pair.given)
    description = given.findtext(f"{SVG}desc")
    assert description is not None
    assert "Fry starts at 4, before Chop ends at 5." in description
    classes = [group.get("class") for group in given.iter(f"{SVG}g")]
    assert classes == ["y", "y", "z", "v"]
    bars = [float(bar.get("x", "")) for bar in given.iter(f"{SVG}rect")]
    assert bars[0] == bars[1] < bars[2]


def test_names_of_a_reply_are_escaped_and_shortened() -> None:
    name = "<script>alert(1)</script>\x1b[31m" + "x" * 100
    given: Json = {"tasks": [name], "starts": [1]}
    odd = replace(trial(), score=Score(0.0, given=given))
    pair = draw_schedules(odd)
    assert pair is not None
    assert "<script" not in pair.given
    assert "\x1b" not in pair.given
    ElementTree.fromstring(pair.given)
    charts = schedule_charts(odd)
    assert charts is not None
    assert all(len(line) < 100 and "\x1b" not in line for line in gantt_lines(charts[1]))


def test_other_forms_unparseable_and_damaged_trials_have_no_chart() -> None:
    right = trial(Wash=0)
    assert schedule_charts(replace(right, question=replace(right.question, form="number"))) is None
    assert schedule_charts(replace(right, score=Score(0.0, status="unparseable"))) is None
    damaged = replace(right, question=replace(right.question, reference={"tasks": ["A"]}))
    assert schedule_charts(damaged) is None
    assert draw_schedules(damaged) is None
    assert schedule_charts(trial(Wash=10**400)) is None


def test_level_that_durations_decide_has_bars_in_the_smallest_unit() -> None:
    drawn = diagram(notation("wadl").read(TEXT))
    assert drawn.unit == "minutes"
    assert drawn.bars == [
        DiagramBar("A", 0, 90), DiagramBar("B", 0, 120, True), DiagramBar("C", 120, 30, True),
    ]  # fmt: skip
    assert Diagram.from_json(drawn.to_json()) == drawn
    assert diagram_lines(drawn)[-4:] == [
        "When tasks run, each as early as it can (in minutes, # critical)",
        "  A  ======================..............  0–90",
        "  B  #############################.......  0–120",
        "  C  .............................#######  120–150",
    ]
    root = ElementTree.fromstring(svg(drawn.to_json()))
    assert [bar.get("class") for bar in root.iter(f"{SVG}rect")][-3:] == ["n", "n c", "n c"]
    assert "B: 0–120 (critical)." in str(root.findtext(f"{SVG}desc"))


def test_level_with_a_condition_or_without_a_duration_has_no_bars() -> None:
    conditional = TEXT.replace("PARALLEL_END_1 -> C -> END;", 'PARALLEL_END_1 ?-> C { condition "n > 1"; } C -> END;')
    for text in (conditional.replace("W {", "W { param n in integer 0 .. 3;"), TEXT.replace("duration 2 hours;", "")):
        drawn = diagram(notation("wadl").read(text))
        assert (drawn.bars, drawn.unit) == ([], "")
        assert "bars" not in drawn.to_json()
