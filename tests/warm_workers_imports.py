"""What the server of `warm_workers` imports, and the files that each process would read anew."""

import gc

import in_process
import pytest

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.generation.vocabularies import most_tasks
from pytest_taskgraph.plugin.asking.kept_questions import code_fingerprint

in_process.load_package()
in_process.skip_repeated_work(pytest.MonkeyPatch())
code_fingerprint()
catalogue()
most_tasks()  # reads all vocabularies
gc.freeze()  # each process looks for garbage five times at its end, which would copy these objects into its memory
