"""The real server of tests/real: llama.cpp with SmolLM2, by the script of the page."""

from __future__ import annotations

import json
import re
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "local-servers.md"


@dataclass(frozen=True)
class RealServer:
    """The server: its address without a path."""

    root: str

    @property
    def model(self) -> str:
        """The model, as a user names it."""
        return f"{self.root}/v1#smollm2"

    def post(self, path: str, body: dict[str, Any]) -> Any:  # noqa: ANN401 - any JSON value
        """The response to a body."""
        request = urllib.request.Request(
            self.root + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def tasks(self) -> int:
        """The number of the last request that it computed."""
        with urllib.request.urlopen(f"{self.root}/slots") as response:
            return int(json.load(response)[0].get("id_task", -1))


def serving_script() -> str:
    """The script that the page has its reader save."""
    (script,) = re.findall(r"Save this as `serve\.py`:\n\n```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    return str(script)
