"""A model that replies what a script states, for tests of the machinery and of users' own suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_taskgraph.errors import NotAskedError
from pytest_taskgraph.trial import Reply, Request

Line = str | Reply | Exception
Script = Iterable[Line] | Callable[[Request], Line]


class ScriptedModel:
    """A model with given replies: a list, one for each request in the order of arrival, or a function of the request.

    A text becomes a reply, an exception is raised. `requests` holds every request that arrived, answered or not. A list
    that is used up raises NotAskedError.
    """

    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[Request] = []
        self._line = script if callable(script) else _next_line(script)

    async def answer(self, request: Request) -> Reply:
        """Return the next reply of the script, or raise the exception in its place."""
        self.requests.append(request)
        line = self._line(request)
        if isinstance(line, Exception):
            raise line
        return Reply(line, source=self.name) if isinstance(line, str) else line


def _next_line(script: Iterable[Line]) -> Callable[[Request], Line]:
    lines = iter(script)
    used_up = NotAskedError("no scripted reply is left; give the script a line for each request")
    return lambda request: next(lines, used_up)
