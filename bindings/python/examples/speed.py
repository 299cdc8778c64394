"""Measures the package, in processor time of one core.

    python speed.py controller      a call of 300 s: controllers in Rust and in Python by turns
    python speed.py steps           steps per second of a VectorEnv
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

import weir
import weir.gym

CALL = """
title = "One call over 2 Mbit/s"
duration = "300s"
[host.alice]
up = { rate = "2Mbit/s", delay = "25ms", queue = "droptail limit 300ms" }
[host.bob]
up = { delay = "25ms" }
[call.main]
from = "alice"
to = "bob"
controller = "gcc:libwebrtc"
audio = AUDIO
video = { width = 1280, height = 720, fps = 30, max_rate = "2Mbit/s" }
"""


class PerPacket(weir.Controller):
    """Looks at every packet twice, as an estimator does, and sends 1.8 Mbit/s."""

    def __init__(self, rates: weir.Rates) -> None:
        super().__init__(rates)
        self.bytes = 0
        self.delay = 0.0

    def on_sent(self, packets: list[weir.SentPacket]) -> None:
        for packet in packets:
            self.bytes += packet.size

    def on_feedback(self, now: float, feedback: weir.Feedback) -> None:
        if isinstance(feedback, weir.PacketFeedback):
            for result in feedback.results:
                if result.arrival is not None:
                    self.delay += 0.1 * (result.arrival - result.sent - self.delay)

    def decision(self) -> weir.Decision:
        return weir.Decision(1_800_000)


def processor_time(work: Callable[[], object]) -> float:
    """The processor time of all threads, in ms."""
    before = time.process_time()
    work()
    return 1000 * (time.process_time() - before)


def controller() -> None:
    """A call with a controller in Rust, one in Python, and the fixed rate of the latter by turns."""
    call = weir.Experiment.parse(CALL.replace("AUDIO", "false"))
    fixed = call.with_controller("fixed:1800kbit/s")

    def run(experiment: weir.Experiment, own: type[weir.Controller] | None = None) -> float:
        return processor_time(lambda: experiment.run(jobs=1, controller=own, keep_series=False))

    turns = [(run(call), run(call, PerPacket), run(fixed)) for _ in range(9)]
    rust, python, plain = (statistics.median(times) for times in zip(*turns, strict=True))
    print(f"gcc:libwebrtc {rust:.1f} ms, Python {python:.1f} ms, fixed:1800kbit/s {plain:.1f} ms")
    print(f"Python / Rust: {python / rust:.2f}; Python / fixed: {python / plain:.2f}")


def steps() -> None:
    """Steps per second with and without audio, and with the policy of the example."""
    for audio in ("true", "false"):
        call = weir.Experiment.parse(CALL.replace("AUDIO", audio))
        env = weir.gym.VectorEnv(call, 32)
        env.reset(seed=1)
        rates = np.random.default_rng(1).uniform(0.3e6, 2e6, (4000, 32, 1))
        spent = processor_time(lambda: [env.step(rate) for rate in rates])  # noqa: B023
        count = rates.shape[0] * rates.shape[1]
        print(f"audio = {audio}: {count} steps, {count / spent * 1000:,.0f} steps/s on one core")


if __name__ == "__main__":
    {"controller": controller, "steps": steps}[sys.argv[1]]()
