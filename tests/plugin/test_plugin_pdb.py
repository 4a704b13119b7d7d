from __future__ import annotations

from plugin_project import Project, block


def test_debugger_opens_at_wrong_answer_and_goes_on(project: Project) -> None:
    ran = project.spawn("--pdb", "--model", "simulated:0", stdin="p trial.outcome\nc\n" * 4, fresh=False)
    assert (ran.code, ran.counts) == (1, {"failed": 4})
    assert ran.output.count(">>> entering PDB >>>") == 4
    assert ran.output.count("(Pdb) 'wrong'") == 4
    assert f"expected: {', '.join(block())}" in ran.output
    assert "INTERNALERROR" not in ran.output


def test_debugger_stays_closed_if_report_only(project: Project) -> None:
    ran = project.run("--pdb", "--model", "simulated:0", "--taskgraph-fail-on=nothing")
    assert (ran.code, ran.counts) == (0, {"wrong": 4})
    assert "(Pdb)" not in ran.output
