"""The part of the package that is written in Rust."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, final

from typing_extensions import CapsuleType

@final
class Table:
    """A table in Arrow's memory format.

    Every library that knows Arrow's PyCapsule interface takes it without a copy:
    `pandas.DataFrame.from_arrow(table)`, `polars.DataFrame(table)`, `pyarrow.table(table)`.
    """

    @property
    def column_names(self) -> list[str]: ...
    @property
    def units(self) -> dict[str, str]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...
    def __len__(self) -> int: ...

@final
class Results:
    """The results of the runs of an experiment, in the order of its cells and seeds."""

    @property
    def failures(self) -> list[tuple[str, int, str]]: ...
    def metrics(self) -> Table: ...
    def series(self, *, every: float | None = None, names: Sequence[str] | None = None) -> Table: ...
    def __len__(self) -> int: ...

@final
class Experiment:
    """An experiment that was read and checked. It never changes."""

    @staticmethod
    def load(path: str | PathLike[str]) -> Experiment: ...
    @staticmethod
    def parse(text: str, path: str = "experiment.toml") -> Experiment: ...
    def set(self, key: str, value: object) -> Experiment: ...
    def with_controller(self, profile: str) -> Experiment: ...
    def quick(self) -> Experiment: ...
    def run(
        self,
        *,
        seeds: int | Sequence[int] | None = None,
        jobs: int | None = None,
        controller: Callable[[Rates], Any] | Mapping[str, Callable[[Rates], Any]] | None = None,
        store: str | PathLike[str] | None = None,
        keep_series: bool = True,
        allow_failures: bool = False,
    ) -> Results: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def cells(self) -> list[dict[str, str]]: ...
    @property
    def streams(self) -> list[str]: ...

@final
class Rates:
    """The rates that a call allows, and its name."""

    @property
    def call(self) -> str: ...
    @property
    def start_rate(self) -> float: ...
    @property
    def min_rate(self) -> float: ...
    @property
    def max_rate(self) -> float: ...

@final
class SentPacket:
    """A packet that left the pacer."""

    @property
    def sequence(self) -> int: ...
    @property
    def sent(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def probe(self) -> int | None: ...

@final
class PacketResult:
    """A sent packet and the feedback about it. `arrival` is None if the packet is lost."""

    @property
    def sequence(self) -> int: ...
    @property
    def sent(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def probe(self) -> int | None: ...
    @property
    def arrival(self) -> float | None: ...
    @property
    def ce(self) -> bool: ...

@final
class PacketFeedback:
    """Transport-wide feedback, or that of RFC 8888."""

    @property
    def results(self) -> list[PacketResult]: ...
    @property
    def rtt(self) -> float | None: ...

@final
class ReceiverReport:
    """A receiver report (RFC 3550 § 6.4.1)."""

    @property
    def fraction_lost(self) -> float: ...
    @property
    def expected(self) -> int: ...
    @property
    def rtt(self) -> float | None: ...

@final
class Remb:
    """The maximum rate that the receiver allows (draft-alvestrand-rmcat-remb-03)."""

    def __new__(cls, rate: float) -> Remb: ...
    @property
    def rate(self) -> float: ...

@final
class CustomFeedback:
    """A message that the halves of one controller define for themselves (APP, RFC 3550 § 6.7).

    `name` has four ASCII characters, `data` a multiple of 4 bytes and at most 32.
    """

    def __new__(cls, name: str, data: bytes) -> CustomFeedback: ...
    @property
    def name(self) -> str: ...
    @property
    def data(self) -> bytes: ...

@final
class ArrivedPacket:
    """A packet as it arrived at the receiver."""

    @property
    def sequence(self) -> int: ...
    @property
    def sent(self) -> float: ...
    @property
    def arrival(self) -> float: ...
    @property
    def size(self) -> int: ...
    @property
    def rtp_timestamp(self) -> int: ...
    @property
    def probe(self) -> int | None: ...
    @property
    def ce(self) -> bool: ...

@final
class MediaFrame:
    """A frame that the encoder added to the pacer's queue: its RTP payload, and all that waits."""

    @property
    def size(self) -> int: ...
    @property
    def queued(self) -> int: ...

@final
class Allocation:
    """The rates that the streams of a sender can use in sum; 0 if they are not known."""

    @property
    def min_rate(self) -> float: ...
    @property
    def max_rate(self) -> float: ...

@final
class ProbeCluster:
    """A cluster of probe packets that a controller asks for."""

    def __new__(
        cls, id: int, rate: float, min_duration: float = 0.015, min_packets: int = 5
    ) -> ProbeCluster: ...
    @property
    def id(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def min_duration(self) -> float: ...
    @property
    def min_packets(self) -> int: ...

@final
class Decision:
    """What a controller asks of the sender. A pacing rate of None is 2.5 × the target."""

    def __new__(
        cls,
        target_rate: float,
        pacing_rate: float | None = None,
        probe: ProbeCluster | None = None,
    ) -> Decision: ...
    @property
    def target_rate(self) -> float: ...
    @property
    def pacing_rate(self) -> float | None: ...
    @property
    def probe(self) -> ProbeCluster | None: ...

@final
class Calls:
    """Calls in one or several networks, advanced together. `weir.gym` makes environments of them."""

    def __new__(cls, experiments: Sequence[Experiment], call: str, count: int) -> Calls: ...
    @property
    def networks(self) -> int: ...
    def begin(self, index: int, network: int, seed: int) -> None: ...
    # Buffers of float64, float32, float64 and uint8, with a row per call.
    def step(self, rates: object, observations: object, facts: object, over: object) -> None: ...

def experiments() -> list[str]: ...
def controllers() -> dict[str, str]: ...
def verify(
    claims: list[str],
    set: list[tuple[str, str]],
    runs: int | None,
    quick: bool,
    points: int | None,
    jobs: int | None,
    store: str | None,
) -> list[str]: ...
def advise(
    experiment: Experiment | None,
    line: str | None,
    beside: list[str],
    modem: bool,
    weight: float,
    remedies: list[str],
    dev: str,
    jobs: int | None,
    store: str | None,
) -> tuple[str, str, list[str]]: ...
