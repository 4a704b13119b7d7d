"""Smaller workflows made of a workflow, to find the smallest that a question still needs.

flow_chains      the parts of a control flow with one way in and one way out
flow_draft       a level whose control flow is being cut
flow_reductions  levels with less control flow
composites       projects with fewer levels or workflows
details          details of a project beside its tasks and links
candidates       all of these together: checked, ordered, each once
workflow_shape   a digest of workflows that does not depend on names
"""

from .candidates import cost, reductions

__all__ = ["cost", "reductions"]
