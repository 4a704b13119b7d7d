"""How the steps of a task are generated: in-context learning, merged sequences, filtered samples."""

from __future__ import annotations

from .multiple_sequences import compose_answer as compose_answer
from .multiple_sequences import compose_reply as compose_reply
from .multiple_sequences import merge_sequences as merge_sequences
from .multiple_sequences import read_sequence as read_sequence
from .multiple_sequences import sample_requests as sample_requests
from .multiple_sequences import step_sequences as step_sequences
from .multiple_sequences import unparseable_reply as unparseable_reply
from .sample_filter import EPISODE_METRICS as EPISODE_METRICS
from .sample_filter import FILTERED as FILTERED
from .sample_filter import check_filter as check_filter
from .step_methods import METHODS as METHODS
from .step_methods import draw_examples as draw_examples
from .step_methods import icl_prompt as icl_prompt
from .step_methods import task_fields as task_fields
