"""Congestion controllers written in Python."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from weir._weir import (
    Allocation,
    ArrivedPacket,
    CustomFeedback,
    Decision,
    MediaFrame,
    PacketFeedback,
    ProbeCluster,
    Rates,
    ReceiverReport,
    Remb,
    SentPacket,
)

#: One RTCP message to a sender.
Feedback: TypeAlias = PacketFeedback | ReceiverReport | Remb | CustomFeedback

#: The ECN field of packets that leave (RFC 3168 section 5, RFC 9331).
Ecn: TypeAlias = Literal["not-ect", "ect0", "ect1"]


class Receiver:
    """The half of a controller at the receiver, which sends a rate or a message back.

    `Controller.receiver` names the class. Its halves know of each other only what the network
    carries: the sender gets the messages of `poll` in `on_feedback`, if and when they arrive.

    Packets that arrive wait for up to `batch` seconds and are passed on together. Then, and at the
    time of `next_timeout`, `poll` is asked once for a message.
    """

    #: How long packets may wait, in seconds; with 0, Python is called for every packet. The default
    #: is the shortest interval of transport-wide feedback in libwebrtc (`remote_estimator_proxy.cc`,
    #: 50 ms).
    batch: ClassVar[float] = 0.05

    def __init__(self, rates: Rates) -> None:
        """Begins with the rates of the call."""

    def on_packets(self, packets: list[ArrivedPacket], rtt: float | None) -> None:
        """Packets arrived, in this order. `rtt` is the newest round-trip time that is known."""

    def on_timeout(self, now: float) -> None:
        """The time that `next_timeout` returned has been reached."""

    def next_timeout(self) -> float | None:
        """When to call `on_timeout` next, later than the present; None for never."""
        return None

    def poll(self, now: float) -> Remb | CustomFeedback | None:
        """The message to send now; None if there is none. Each message is returned once."""
        return None

    def speaks_remb(self) -> bool:
        """Whether the messages are REMB, which other implementations understand."""
        return True

    def signals(self) -> dict[str, float]:
        """Values by name to record with every sample."""
        return {}


class Controller:
    """A congestion controller at the sender: a base class with the methods of `cc::Sender`.

    A controller reads no clock: the time comes with every call. `Experiment.run(controller=...)`
    makes one instance per direction of a call and run.

    Python is called once per report. The packets that left since the last call come as one list in
    `on_sent`, just before `on_feedback` or `on_timeout`. After each of these two, `next_timeout`
    and `decision` are asked. An exception fails the run; its traceback is in `RunError.failures`.

    The methods from `on_frame` on are optional: a method that a class does not have of its own is
    not called. The answers of `padding_rate`, `send_window`, `ecn` and `frame_reduction` hold until
    the next report.
    """

    #: The half at the receiver; None for none.
    receiver: ClassVar[type[Receiver] | None] = None
    #: Whether the receiving endpoint sends transport-wide feedback.
    transport_feedback: ClassVar[bool] = True

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

    def on_frame(self, now: float, frame: MediaFrame) -> None:
        """The encoder added a frame to the pacer's queue. The decision is asked again."""

    def on_allocation(self, now: float, allocation: Allocation) -> None:
        """The rates that the streams can use have changed. The decision is asked again."""

    def on_probe_cluster(self, cluster: ProbeCluster) -> None:
        """A cluster of probe packets follows that this controller did not ask for."""

    def on_route_change(self, now: float, start: float) -> None:
        """The packets take another route; the estimate begins again at `start`."""

    def padding_rate(self) -> float:
        """The rate up to which the pacer sends padding where media are missing; 0 for none."""
        return 0.0

    def pacing_burst(self) -> float | None:
        """The time whose worth of packets may leave at once; None: the endpoint decides.

        Asked once, after `__init__`.
        """
        return None

    def send_window(self) -> int | None:
        """The bytes that may leave from now on; None for no limit.

        What leaves until the next report is subtracted. A packet that is larger than the rest waits,
        so that a controller with a window also needs a timeout for the loss of all feedback.
        """
        return None

    def ecn(self) -> Ecn:
        """The ECN field of the packets that leave."""
        return "not-ect"

    def frame_reduction(self) -> float:
        """The share of the frames, 0 to 1, that the encoder should drop."""
        return 0.0

    def signals(self) -> dict[str, float]:
        """Values by name to record with every sample."""
        return {}
