"""Questions about the next steps of workflows, generated or the user's own: their answers are known exactly.

workflow_sources  the levels that are asked about
workflow_steps    a step that can come next, and one that cannot, at places of runs
run_beginnings    what the runs of a level can begin with
"""
