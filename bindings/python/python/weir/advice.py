"""Advice for a call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, Literal

from weir import _weir

# The weights of the command line (`weir advise --goal`).
_WEIGHTS = {"call": 0.8, "balance": 0.5, "others": 0.2}


@dataclass(frozen=True)
class Advice:
    """Remedies for a call, ranked."""

    #: What was asked, in one line.
    heading: str
    #: What to do, in words.
    verdict: str
    #: The remedies, best first, as `weir advise --json` prints them: "remedy", "place", "score",
    #: "call", "others", "set" (values for `Experiment.set`), "tc" (commands for a gateway), …
    remedies: list[dict[str, Any]]

    @property
    def best(self) -> dict[str, Any]:
        """The first remedy."""
        return self.remedies[0]


def advise(
    experiment: _weir.Experiment | str | PathLike[str] | None = None,
    *,
    line: str | None = None,
    beside: Sequence[Literal["upload", "download"]] = ("upload",),
    modem: bool = False,
    goal: Literal["call", "balance", "others"] | float = "call",
    remedies: Sequence[str] = (),
    dev: str = "eth0",
    jobs: int | None = None,
    store: str | PathLike[str] | None = None,
) -> Advice:
    """Ranks what helps the call of an experiment, or of a line at home, as `weir advise`.

    Args:
        experiment: An experiment, its name, or its file.
        line: The line at home instead: "5Mbit/1Mbit" is 5 Mbit/s down and 1 Mbit/s up.
        beside: The traffic beside the call on that line.
        modem: Whether packets wait in a modem that cannot be configured.
        goal: Whom the remedy is for, or the weight of the call from 0 to 1.
        remedies: Names or kinds of remedies; all by default.
        dev: The network device in the commands of tc.
        jobs: The number of threads; all cores by default.
        store: A file that keeps the runs and gives back those that it contains.
    """
    if experiment is not None and not isinstance(experiment, _weir.Experiment):
        experiment = _weir.Experiment.load(experiment)
    weight = _WEIGHTS[goal] if isinstance(goal, str) else float(goal)
    if not 0.0 <= weight <= 1.0:
        raise ValueError(f"goal is {goal}; a weight is from 0 to 1")
    path = None if store is None else fspath(store)
    heading, verdict, lines = _weir.advise(
        experiment, line, list(beside), modem, weight, list(remedies), dev, jobs, path
    )
    return Advice(heading, verdict, [json.loads(text) for text in lines])
