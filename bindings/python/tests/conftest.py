"""Experiments that several tests use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import weir

CALL = """
title = "One call"
duration = "{duration}"
[host.alice]
up = {{ rate = "{rate}", delay = "25ms", queue = "{queue}" }}
[host.bob]
up = {{ delay = "25ms" }}
[call.main]
from = "alice"
to = "bob"
controller = "{controller}"
max_rate = "8Mbit/s"
audio = {audio}
video = {{ width = 1280, height = 720, fps = 30, max_rate = "8Mbit/s" }}
"""


@pytest.fixture
def call() -> Callable[..., weir.Experiment]:
    """Makes an experiment with one call over one link."""

    def make(
        rate: str = "1Mbit/s",
        *,
        duration: str = "20s",
        queue: str = "droptail limit 300ms",
        controller: str = "gcc:libwebrtc",
        audio: bool = False,
    ) -> weir.Experiment:
        words = {"rate": rate, "duration": duration, "queue": queue, "controller": controller}
        return weir.Experiment.parse(CALL.format(audio=str(audio).lower(), **words))

    return make


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder with four traces: slow, fast, and from one to the other."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for name, (first, second) in {
        "slow": (0.5, 0.5), "down": (3, 0.5), "up": (0.5, 3), "fast": (3, 3)
    }.items():
        (folder / f"{name}.txt").write_text(f"0 {first}\n10 {second}\n20 {second}\n")
    return folder
