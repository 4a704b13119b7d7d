from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest
from described_runs import PATTERNS, about_run, described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.understanding.family_tables import TABLES
from pytest_taskgraph.families.understanding.understanding_family import DIFFICULTY
from pytest_taskgraph.family_description import RATES, TableSpec
from pytest_taskgraph.reports import terminal
from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.results.descriptions import Descriptions
from pytest_taskgraph.results.record import About, about_of, build, tally_of
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Json, Outcome, Question, Reply, Score, Trial

ABOUT = about_run("0.1.0", ("gpt-x",), 7, ("wadl",), "chain-of-thought", "lenient", ("answers",), 21)


def make_trial(
    name: str,
    outcome: Outcome = "right",
    *,
    pattern: str = "next_tasks",
    category: str = "structure",
    model: str = "gpt-x",
    **labels: str | int,
) -> Trial:
    question = Question(
        name, "understanding", pattern, category, "Which?", "p", "task-set", ["A"], "jaccard", labels=labels
    )
    if outcome in ("error", "skipped"):
        return Trial(question, model, outcome)
    return Trial(question, model, outcome, Reply("A"), Score({"right": 1.0, "wrong": 0.25}.get(outcome, 0.0)))


def tallied(*trials: Trial) -> Tally:
    tally = Tally(described())
    for trial in trials:
        tally.add(trial)
    return tally


def some() -> Tally:
    chain = [
        make_trial(f"c{at:02}", "right" if at < 9 else "wrong", pattern="chain", size=8 + at % 2) for at in range(12)
    ]
    other = [make_trial("n1", size=8), make_trial("n2", "unparseable", size=9), make_trial("n3", "error", size=8)]
    return tallied(*chain, *other, make_trial("e1", pattern="can_end_after", category="behaviour", size=8))


def text(tally: Tally, about: About = ABOUT, verbosity: int = 2, width: int = 80) -> str:
    return "\n".join(line for line, _ in terminal.lines(tally, about, verbosity, width))


def dedented(expected: str) -> str:
    return dedent(expected).strip("\n")


def test_terminal_overview_has_line_for_each_section() -> None:
    assert text(some(), verbosity=0, width=72) == dedented("""
        taskgraph 0.1.0: model gpt-x, seed 7, 21 questions

        understanding   n   score  95% interval  errors  unparseable  measure
        structure      14   0.714  0.454-0.883        1            1  pass rate
        behaviour       1*  1.000  0.207-1.000        0            0  pass rate
        total          15   0.733  0.480-0.891        1            1  pass rate
        * fewer than 10 answered: such a rate says little
        -v: each pattern and metric
    """)


def test_terminal_narrow_overview_keeps_scores_and_counts() -> None:
    assert text(some(), verbosity=0, width=40).splitlines()[3:8] == [
        "understanding",
        "          n   score  errors  unparseable",
        "structure",
        "         14   0.714       1            1",
        "behaviour",
    ]


def test_terminal_overview_names_baseline_that_answered() -> None:
    trials = [
        replace(make_trial(f"q{at}", category=name), model="baseline", reply=Reply("A", source=f"baseline:{name}"))
        for at, name in enumerate(("reader", "reader", "lexical"))
    ]
    lines = text(tallied(*trials), verbosity=0).splitlines()
    assert [line.partition("pass rate  ")[2] for line in lines[3:6]] == [
        "baseline lexical",
        "baseline reader",
        "2 baselines",
    ]
    assert lines[-1] == "-v: each pattern and metric; --model=NAME: a model"


def test_terminal_overview_says_where_wrong_answers_that_fail_nothing_are() -> None:
    gated = replace(ABOUT, fail_on=("gates",))
    wrong = tallied(make_trial("a", "wrong"), make_trial("b"))
    assert "w: wrong answers, 1; python -m pytest_taskgraph show: the first of them" in text(wrong, gated, 0)
    assert "w: " not in text(wrong, ABOUT, 0)
    assert "w: " not in text(tallied(make_trial("b")), gated, 0)
    simple = replace(make_trial("a", "wrong"), model="baseline:random", reply=Reply("A", source="baseline:random"))
    assert "w: wrong answers, 1, as is expected of simple baselines" in text(tallied(simple), gated, 0)


def test_terminal_overview_of_models_counts_what_is_no_answer() -> None:
    trials = [make_trial("a"), make_trial("a", "error", model="b"), make_trial("b", "wrong", model="b")]
    assert text(tallied(*trials), verbosity=0).splitlines()[2:6] == [
        "understanding  measure        b   gpt-x",
        "structure      pass rate  0.000*  1.000*",
        "answered                      1       1",
        "errors                        1       0",
    ]


def test_terminal_overview_of_many_models_is_split() -> None:
    models = [f"a-provider/a-model-of-some-length-{at}" for at in range(4)]
    output = text(tallied(*(make_trial("q", model=model) for model in models)), verbosity=0, width=60)
    assert output.count("\nunderstanding ") == 1
    assert [f"[{at}]" in output for at in range(1, 5)] == [True] * 4


def test_terminal_tables_at_72_columns() -> None:
    assert text(some(), verbosity=1, width=72) == dedented("""
        taskgraph 0.1.0: model gpt-x, seed 7, 21 questions
        taskgraph: notation wadl, prompt chain-of-thought, parsing lenient

        pattern           n   pass rate   mean  errors  unparseable
        structure        14       0.714  0.768       1            1
          chain          12       0.750  0.812       0            0
          next_tasks      2*      0.500  0.500       1            1
        behaviour         1*      1.000  1.000       0            0
          can_end_after   1*      1.000  1.000       0            0
        total            15       0.733  0.783       1            1
        * fewer than 10 answered: such a rate says little
    """)


def test_terminal_few_answers_of_label_explain_mark() -> None:
    by_size = TableSpec("by size", "size", RATES, rows="label", label="size", total=False)
    tally = Tally(Descriptions([replace(PATTERNS, groups=("chain",), tables=(by_size,))]))
    for at in range(12):
        tally.add(make_trial(f"c{at:02}", pattern="chain", size=8 if at < 10 else 9))
    output = text(tally).splitlines()
    assert [line.split()[1] for line in output if line.startswith("9 ")] == ["2*"]
    assert output[-1] == "* fewer than 10 answered: such a rate says little"


def test_terminal_wide_shows_intervals_and_spread() -> None:
    assert text(some()).splitlines()[3:6] == [
        "pattern           n   pass rate  95% interval   mean    std  errors  unparseable",
        "structure        14       0.714   0.454-0.883  0.768  0.386       1            1",
        "  chain          12       0.750   0.468-0.911  0.812  0.339       0            0",
    ]


def test_terminal_at_60_columns_shortens_titles_and_folds_names() -> None:
    tally = tallied(
        *some(),
        make_trial("x", "skipped", pattern="all_tasks_that_can_come_directly_after"),
        make_trial("r", "refused"),
    )
    assert text(tally, width=60).splitlines()[4:9] == [
        "pattern            n    rate   mean  err  unparsed+ref  skip",
        "structure         15   0.667  0.717    1           1+1     1",
        "  all_tasks_that_can_come_directly_after",
        "                   0       -      -    0           0+0     1",
        "  chain           12   0.750  0.812    0           0+0     0",
    ]


def test_terminal_skipped_and_refused_columns_are_optional() -> None:
    assert "skipped" not in text(some())
    assert "refused" not in text(some())
    more = text(tallied(*some(), make_trial("x", "skipped"), make_trial("r", "refused")), width=90)
    assert "unparseable+refused  skipped" in more
    assert "1+1" in more


def test_terminal_quiet_is_one_line() -> None:
    assert text(some(), verbosity=-1) == (
        "taskgraph: gpt-x: 11 of 15 right (0.733), mean 0.783, 1 error, 1 unparseable"
    )
    two = tallied(make_trial("a"), make_trial("a", "wrong", model="b"))
    assert text(two, verbosity=-1) == "taskgraph: 2 answered: 0.000 b, 1.000 gpt-x"
    remarks = tallied(make_trial("a", model="b (a remark)"), make_trial("a", "wrong", model="c" * 70))
    assert text(remarks, verbosity=-1) == f"taskgraph: 2 answered: 1.000 b, 0.000\n{'c' * 70}"
    assert text(some(), replace(ABOUT, fail_on=()), -1, 100).endswith("1 unparseable, report only")


def test_terminal_verbose_adds_table_for_each_label() -> None:
    tally = tallied(
        *some(), make_trial("z", size=100, notation="wadl"), *(make_trial(f"y{at}", size=9) for at in range(9))
    )
    assert "by size" not in text(tally, verbosity=1)
    assert "by notation" not in text(tally, verbosity=2)
    assert [line.split()[0] for line in text(tally, verbosity=2).partition("by size")[2].splitlines()[1:4]] == [
        "8",
        "9",
        "100",
    ]


def test_terminal_labels_with_few_answers_are_named() -> None:
    tally = tallied(*(make_trial(f"a{at}", size=at % 2, width=at % 3, depth=at // 10) for at in range(15)))
    output = text(tally, verbosity=2)
    assert [line for line in output.splitlines() if line.startswith("by ")] != []
    assert "by depth" in output
    assert "no table by size, width: fewer than 10 answered of each value" in output
    assert "no table by" not in text(some(), verbosity=1)


def test_terminal_verbose_explains_std() -> None:
    assert "std: standard deviation of the scores" in text(some(), verbosity=1)
    assert "std: standard" not in text(some(), verbosity=0)
    assert "std: standard" not in text(some(), verbosity=1, width=60)


def test_terminal_quiet_shows_gates_that_did_not_pass() -> None:
    why = "pass rate 0.219 of 96 answered (95% 0.148-0.312), threshold 0.8; about 400 questions needed for a decision"
    gates: list[dict[str, Json]] = [
        {"name": "gates::data", "outcome": "passed", "reason": "pass rate 1.000"},
        {"name": "gates::structure>=0.8@95%", "outcome": "failed", "reason": why},
        {"name": "budget::calls", "outcome": "skipped", "reason": "not decided: -k"},
        {"name": "compare::A", "outcome": "skipped", "reason": "inconclusive: -0.100 over 10 paired questions"},
        {"name": "compare::B", "outcome": "passed", "reason": "not worse: +0.000 over 10 paired questions"},
    ]
    styled_lines = terminal.lines(some(), replace(ABOUT, gates=tuple(gates)), -1, 60)
    output = " ".join(line for line, _ in styled_lines)
    assert output == (
        "taskgraph: gpt-x: 11 of 15 right (0.733), mean 0.783, 1 error, 1 unparseable "
        f"failed gates::structure>=0.8@95%: {why} skipped budget::calls: not decided: -k "
        "inconclusive compare::A: -0.100 over 10 paired questions "
        "passed compare::B: not worse: +0.000 over 10 paired questions"
    )
    assert {"yellow": True} in [markup for line, markup in styled_lines if "compare::A" in line]
    assert {"green": True} in [markup for line, markup in styled_lines if "compare::B" in line]
    assert terminal.lines(some(), replace(ABOUT, gates=tuple(gates)), -2, 60) == []


def test_terminal_verbose_has_table_for_each_model() -> None:
    output = text(
        tallied(make_trial("a"), make_trial("a", "wrong", model="b")), replace(ABOUT, models=("b", "gpt-x")), 1
    )
    assert output.startswith("taskgraph 0.1.0: models b, gpt-x, seed 7, 21 questions\n")
    assert [output.count(part) for part in ("\nmodel b\n", "\nmodel gpt-x\n", "\ntotal ")] == [1, 1, 3]


def test_header_states_report_only_and_simulated_model() -> None:
    report_only = replace(ABOUT, fail_on=())
    assert terminal.header(report_only) == ["taskgraph 0.1.0: model gpt-x, seed 7, 21 questions, report only"]
    assert terminal.REPORT_ONLY in terminal.header(report_only, verbose=True)
    assert any(
        "simulated: answers are looked up" in line
        for line in terminal.header(replace(ABOUT, models=("simulated:0.8",)))
    )
    assert not any("report only" in line or "simulated" in line for line in terminal.header(ABOUT))


def test_header_long_settings_are_wrapped() -> None:
    facts = {"notation": "wadl", "similarity": "lexical (not comparable with the paper)", "query": "paper"}
    lines = terminal.header(replace(ABOUT, families=(replace(PATTERNS, facts=facts),)), verbose=True)
    assert " ".join(lines[1:]) == (
        "taskgraph: notation wadl, similarity lexical (not comparable with the paper), query paper, "
        "prompt chain-of-thought, parsing lenient"
    )
    assert len(lines) == 3


def test_terminal_without_header_begins_with_tables() -> None:
    whole = [line for line, _ in terminal.lines(some(), ABOUT)]
    tables = [line for line, _ in terminal.lines(some(), ABOUT, with_header=False)]
    assert whole == [*terminal.header(ABOUT), *tables]


def test_terminal_models_of_long_names_share_one_table() -> None:
    models = ("simulated:0.7 (knows the answers; for testing the machinery)", "baseline:random")
    output = text(tallied(*(make_trial(f"q{at}", model=model) for at in range(12) for model in models)))
    assert "pass rate/mean  baseline random   simulated:0.7\n" in output
    assert "machinery)  " not in output


def test_terminal_six_models_share_one_table_at_80_columns() -> None:
    models = [f"a-provider/a-model-of-some-length-{at}" for at in range(6)]
    pattern = "inconsistent_workflow_description"
    trials = [make_trial(f"q{at}", model=model, pattern=pattern) for at in range(12) for model in models]
    output = text(tallied(*trials))
    assert output.count("\npass rate ") == 1
    assert "[1]    [2]    [3]    [4]    [5]    [6]\n" in output
    assert f"  {pattern} {'  '.join(['1.000'] * 6)}\n" in output
    assert [output.count(f"\n[{at}] {model}\n") for at, model in enumerate(models, 1)] == [1] * 6


def test_terminal_remark_that_tells_models_apart_is_kept() -> None:
    output = text(tallied(*(make_trial("q", model=f"gpt ({of})") for of in "ab")))
    assert "gpt (a)" in output.partition("pass rate")[2].splitlines()[0]


def test_terminal_verbose_compares_models_by_label_in_one_table() -> None:
    trials = [make_trial(f"q{at}", model=model, size=at % 2) for at in range(24) for model in ("m", "n")]
    output = text(tallied(*trials), verbosity=2)
    assert output.count("by size") == 1
    assert output.partition("\n\npass rate, ")[2].splitlines() == [
        "95% interval, n answered",
        "by size                       m                        n",
        "0        1.000 0.758-1.000 n=12   1.000 0.758-1.000 n=12",
        "1        1.000 0.758-1.000 n=12   1.000 0.758-1.000 n=12",
        "std: standard deviation of the scores",
    ]


def test_header_omits_unknown_number_of_questions() -> None:
    assert terminal.header(replace(ABOUT, questions=None))[0] == "taskgraph 0.1.0: model gpt-x, seed 7"
    assert terminal.header(replace(ABOUT, questions=1))[0].endswith(", 1 question")


def test_header_long_model_name_keeps_seed() -> None:
    name = "provider/" + "x" * 200
    *first, how = terminal.header(replace(ABOUT, models=(name,)), verbose=True)
    assert "".join(first).endswith("x, seed 7, 21 questions")
    assert name in "".join(first)
    assert max(map(columns, first)) <= 80
    assert how == "taskgraph: notation wadl, prompt chain-of-thought, parsing lenient"


def test_header_names_every_model_in_full() -> None:
    models = tuple(f"http://model-server-{at}.example:8000/v1#qwen-{at}" for at in (1, 2))
    first = terminal.header(replace(ABOUT, models=models))
    assert " ".join(first) == f"taskgraph 0.1.0: models {', '.join(models)}, seed 7, 21 questions"
    assert len(first) == 2


def test_terminal_reruns_are_noted() -> None:
    assert "1 question asked more than once (reruns, other suites): the last answer counts" in text(
        tallied(make_trial("a", "wrong"), make_trial("a"))
    )


def test_terminal_without_trials_is_empty() -> None:
    for verbosity in (-1, 0, 1, 2):
        assert terminal.lines(tallied(), ABOUT, verbosity) == []


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "colour"),
    [
        (["right", "right"], ("answers",), {"green": True}),
        (["right", "skipped"], ("answers",), {"green": True}),
        (["right", "error"], ("answers",), {"red": True}),
        (["right", "wrong"], ("answers",), {"red": True}),
        (["skipped"], ("answers",), {}),
        (["wrong"], (), {}),
        (["wrong"], ("gates",), {}),
    ],
)
def test_terminal_total_has_colour_only_if_answers_fail(
    outcomes: list[Outcome], fail_on: tuple[str, ...], colour: dict[str, bool]
) -> None:
    tally = tallied(*(make_trial(str(at), outcome) for at, outcome in enumerate(outcomes)))
    (total,) = [
        markup for line, markup in terminal.lines(tally, replace(ABOUT, fail_on=fail_on), 1) if line.startswith("total")
    ]
    assert total == {"bold": True, **colour}


def test_terminal_summary_is_function_of_record() -> None:
    record = build(some(), ABOUT)
    for verbosity in (-1, 0, 1, 2):
        assert text(tally_of(record), about_of(record), verbosity) == text(some(), verbosity=verbosity)


nasty = st.text(st.characters(), max_size=60)


@given(
    st.lists(
        st.tuples(nasty, nasty, nasty, st.sampled_from(["right", "unparseable", "refused", "error", "skipped"])),
        max_size=6,
    ),
    st.integers(-1, 2),
    st.sampled_from([40, 60, 80, 120]),
)
def test_terminal_any_names_fit_and_print(
    questions: list[tuple[str, str, str, Outcome]], verbosity: int, width: int
) -> None:
    trials = [
        make_trial(str(at), outcome, pattern=a, category=b, model=c, size=a)
        for at, (a, b, c, outcome) in enumerate(questions)
    ]
    models = tuple(question[2] for question in questions)
    for line, _ in terminal.lines(tallied(*trials), about_run("0.1.0", models, notations=models), verbosity, width):
        assert columns(line) <= width
        assert line.isprintable()


def guessable(tally: Tally, chance: float = 0.5) -> Tally:
    return tallied(*(replace(trial, question=replace(trial.question, chance=chance)) for trial in tally))


def test_terminal_widest_shows_chance() -> None:
    assert text(guessable(some()), width=120).splitlines()[3:5] == [
        "pattern           n   pass rate  95% interval   mean  chance  above chance    std  errors  unparseable",
        "structure        14       0.714   0.454-0.883  0.768   0.500         0.536  0.386       1            1",
    ]
    assert "chance" not in text(some(), width=100)


def test_terminal_verbose_shows_score_above_chance() -> None:
    assert text(guessable(some()), verbosity=1).splitlines()[3:5] == [
        "pattern           n    rate          95%   mean  above    std  err  unparsed",
        "structure        14   0.714  0.454-0.883  0.768  0.536  0.386    1         1",
    ]
    narrow = text(guessable(some()), verbosity=1, width=70)
    assert "above" not in narrow
    assert "chance" not in text(some(), verbosity=1)


def test_terminal_varied_questions_have_own_table() -> None:
    def varied(name: str, outcome: Outcome, relation: str) -> Trial:
        trial = make_trial(f"{name}-{relation}", outcome, pattern="chain")
        return replace(trial, question=replace(trial.question, relation=relation, twin=name))

    again = [varied(f"c{at:02}", "right", "names") for at in range(12)]
    tally = tallied(*some(), *again, varied("c00", "right", "phrasing"))
    table = dedented("""
        relation  pairs  same verdict  95% interval
        names        12         0.750   0.468-0.911
        phrasing      1         1.000   0.207-1.000
    """)
    assert table in text(tally)
    assert text(tally).replace("\n" + table + "\n", "") == text(some())
    assert max(columns(line) for line in text(tally, width=40).splitlines()) <= 40


def test_terminal_several_sizes_have_table_and_verbose_rates_by_pattern() -> None:
    tally = Tally(Descriptions([replace(PATTERNS, difficulty=DIFFICULTY, tables=TABLES)]))
    for size, right in ((5, 12), (80, 6)):
        for at in range(12):
            tally.add(make_trial(f"m{size}-{at}", "right" if at < right else "wrong", pattern="makespan", size=size))
    tally.add(make_trial("s", "wrong", pattern="slack", size=80))
    table = ["5     12   1.000", "80    13   0.462"]
    lines = text(tally, verbosity=0).splitlines()
    assert all(any(line.split()[:3] == row.split() for line in lines) for row in table)
    assert "pattern, by size" not in text(tally, verbosity=0)
    assert text(tally, verbosity=1).partition("pattern, by size")[2].splitlines()[1:3] == [
        "makespan          1.000   0.500",
        "slack                 -   0.000*",
    ]
    assert all(columns(line) <= 60 for line in text(tally, verbosity=1, width=60).splitlines())


def test_terminal_single_size_has_no_table_by_size() -> None:
    tally = Tally(Descriptions([replace(PATTERNS, difficulty=DIFFICULTY, tables=TABLES)]))
    tally.add(make_trial("a", size=5))
    assert "size" not in text(tally, verbosity=1)
