"""Congestion controllers written in Python."""

from __future__ import annotations

from typing import TypeAlias

from weir._weir import Decision, PacketFeedback, Rates, ReceiverReport, Remb, SentPacket

#: One RTCP message to a sender.
Feedback: TypeAlias = PacketFeedback | ReceiverReport | Remb


class Controller:
    """A congestion controller at the sender: a base class with the five methods of `cc::Sender`.

    A controller reads no clock: the time comes with every call. `Experiment.run(controller=...)`
    makes one instance per direction of a call and run.

    Python is called once per report. The packets that left since the last call come as one list in
    `on_sent`, just before `on_feedback` or `on_timeout`. After each of these two, `next_timeout`
    and `decision` are asked. An exception fails the run; its traceback is in `RunError.failures`.
    """

    def __init__(self, rates: Rates) -> None:
        """Begins with the start rate of the call."""
        self.target_rate = rates.start_rate

    def on_sent(self, packets: list[SentPacket]) -> None:
        """Packets left the pacer, in order of time and sequence number."""

    def on_feedback(self, now: float, feedback: Feedback) -> None:
        """One RTCP message arrived at `now`."""

    def on_timeout(self, now: float) -> None:
        """The time that `next_timeout` returned has been reached."""

    def next_timeout(self) -> float | None:
        """When to call `on_timeout` next, later than the present; None for never."""
        return None

    def decision(self) -> Decision:
        """The current rates. The target is kept within the limits of the call."""
        return Decision(self.target_rate)
