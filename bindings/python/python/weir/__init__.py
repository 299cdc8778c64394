"""A laboratory for WebRTC congestion control.

Experiments, published claims and advice; controllers written in Python (`Controller`); calls as
environments of Gymnasium (`weir.gym`). Times are in seconds, rates in bit/s, sizes in bytes.
"""

from weir._weir import (
    Allocation,
    ArrivedPacket,
    CustomFeedback,
    Decision,
    Experiment,
    MediaFrame,
    PacketFeedback,
    PacketResult,
    ProbeCluster,
    Rates,
    ReceiverReport,
    Remb,
    Results,
    SentPacket,
    Table,
    controllers,
    experiments,
)
from weir.advice import Advice, advise
from weir.claims import Verdict, verify
from weir.controller import Controller, Ecn, Feedback, Receiver
from weir.errors import Error, ExperimentError, RunError

__all__ = [
    "Advice",
    "Allocation",
    "ArrivedPacket",
    "Controller",
    "CustomFeedback",
    "Decision",
    "Ecn",
    "Error",
    "Experiment",
    "ExperimentError",
    "Feedback",
    "MediaFrame",
    "PacketFeedback",
    "PacketResult",
    "ProbeCluster",
    "Rates",
    "Receiver",
    "ReceiverReport",
    "Remb",
    "Results",
    "RunError",
    "SentPacket",
    "Table",
    "Verdict",
    "advise",
    "controllers",
    "experiments",
    "verify",
]
