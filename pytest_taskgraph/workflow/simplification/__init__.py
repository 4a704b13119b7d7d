"""Smaller workflows out of a workflow, for a question that is to become as small as can be.

flow_chains      the parts of a control flow with one way in and one way out
flow_draft       a level whose control flow is being cut
flow_reductions  levels with less control flow
composites       projects with fewer levels or workflows
details          what a project says beside its tasks and links
candidates       all of these together: checked, ordered, each once
workflow_shape   what is equal of workflows that differ in names only
"""

from .candidates import cost, reductions

__all__ = ["cost", "reductions"]
