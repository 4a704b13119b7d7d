"""Questions about the next steps of workflows, generated or the user's own: their answers are known exactly.

workflow_methods  the methods, their references, and what is left out
workflow_prompts  the question that a reference stands for
step_levels       the levels that a run asks about, as they are shown
workflow_sources  levels of generated workflows and of the user's own
workflow_steps    a step that can come next, and one that cannot, at places of runs
run_beginnings    what the runs of a level can begin with
"""
