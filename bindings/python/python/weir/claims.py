"""Published claims."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

from weir import _weir


@dataclass(frozen=True)
class Verdict:
    """The result of the test of a claim."""

    #: The id of the claim: "C-5".
    id: str
    #: "reproduced", "not reproduced" or "not run".
    status: str
    #: The measured values as text; the reason if the claim was not tested.
    measured: str
    #: The published result.
    published: str
    #: The check as text.
    check: str
    #: The place in the paper: "Fig. 11".
    where: str
    #: Everything that `weir verify --json` prints.
    details: dict[str, Any] = field(repr=False)

    @property
    def reproduced(self) -> bool:
        """Whether the check holds."""
        return self.status == "reproduced"


def verify(
    *claims: str,
    set: Mapping[str, object] | None = None,
    runs: int | None = None,
    quick: bool = False,
    points: int | None = None,
    jobs: int | None = None,
    store: str | PathLike[str] | None = None,
) -> list[Verdict]:
    """Tests published claims, as `weir verify`.

    Args:
        claims: Ids ("C-5"), letters ("C"), or papers ("carlucci-2017"); all claims without any.
        set: Values by key that replace those of the experiments.
        runs: The number of seeds per cell instead of that of the experiments.
        quick: Whether to run the short forms of the experiments.
        points: The number of values per axis of a sweep instead of those of its file.
        jobs: The number of threads; all cores by default.
        store: A file that keeps the runs and gives back those that it contains.

    A claim about a sweep, such as C-14, runs only if its id is named. Its verdict is about the points
    that were run: `points=40` has 1,600 of the 40,000 pairs of C-14. A store keeps the runs of a
    sweep as they finish, so that the same call continues after Ctrl-C or a kill.
    """
    changes = [(key, str(value)) for key, value in (set or {}).items()]
    path = None if store is None else fspath(store)
    lines = _weir.verify(list(claims), changes, runs, quick, points, jobs, path)
    read: list[dict[str, Any]] = [json.loads(line) for line in lines]
    names = ("id", "status", "measured", "published", "check", "where")
    return [Verdict(**{name: line[name] for name in names}, details=line) for line in read]
