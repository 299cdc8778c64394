"""A laboratory for WebRTC congestion control.

Experiments, published claims and advice; controllers written in Python (`Controller`); calls as
environments of Gymnasium (`weir.gym`). Times are in seconds, rates in bit/s, sizes in bytes.
"""

from weir._weir import (
    Decision,
    Experiment,
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
from weir.controller import Controller, Feedback
from weir.errors import Error, ExperimentError, RunError

__all__ = [
    "Advice",
    "Controller",
    "Decision",
    "Error",
    "Experiment",
    "ExperimentError",
    "Feedback",
    "PacketFeedback",
    "PacketResult",
    "ProbeCluster",
    "Rates",
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
