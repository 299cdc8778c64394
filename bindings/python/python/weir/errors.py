"""Exceptions. Their messages are those of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weir._weir import Results


class Error(Exception):
    """An error of Weir."""


class ExperimentError(Error):
    """A mistake in an experiment file or in a changed value.

    Attributes:
        file: The name of the file; "--set" for a changed value.
        line: The line, from 1; None for a changed value and for the whole file.
        key: The full key, such as "host.alice.up.rate"; empty for the whole file.
        reason: What is wrong.
        suggestion: What to write instead; empty if there is no suggestion.
    """

    def __init__(
        self, message: str, file: str, line: int | None, key: str, reason: str, suggestion: str
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.key = key
        self.reason = reason
        self.suggestion = suggestion


class RunError(Error):
    """Runs failed, for example because a controller raised.

    Attributes:
        failures: (cell, seed, message) of each failed run. If a controller raised, the message has
            the traceback.
        results: The results of the other runs.
    """

    def __init__(
        self, message: str, failures: list[tuple[str, int, str]], results: Results
    ) -> None:
        super().__init__(message)
        self.failures = failures
        self.results = results
