"""Controllers written in Python."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

import weir

Make = Callable[..., weir.Experiment]


class Constant(weir.Controller):
    """Half a megabit per second."""

    def decision(self) -> weir.Decision:
        return weir.Decision(500_000)


class Watcher(weir.Controller):
    """Checks what it is told."""

    seen: list[Watcher] = []

    def __init__(self, rates: weir.Rates) -> None:
        super().__init__(rates)
        self.rates = rates
        self.sent: list[int] = []
        self.reported: list[int] = []
        self.lost = 0
        self.reports = 0
        self.ticks: list[float] = []
        Watcher.seen.append(self)

    def on_sent(self, packets: list[weir.SentPacket]) -> None:
        assert packets
        self.sent += [packet.sequence for packet in packets]

    def on_feedback(self, now: float, feedback: weir.Feedback) -> None:
        if isinstance(feedback, weir.ReceiverReport):
            self.reports += 1
            assert 0.0 <= feedback.fraction_lost <= 1.0
        if isinstance(feedback, weir.PacketFeedback):
            for result in feedback.results:
                assert result.sent < now and 0 < result.size <= 1300
                self.reported.append(result.sequence)
                self.lost += result.arrival is None
                if result.arrival is not None:
                    assert 0.025 <= result.arrival - result.sent < 1.0

    def on_timeout(self, now: float) -> None:
        self.ticks.append(now)

    def next_timeout(self) -> float:
        return len(self.ticks) + 1.0


class Raises(weir.Controller):
    """Has a mistake that shows only with some seeds."""

    def on_feedback(self, now: float, feedback: weir.Feedback) -> None:
        if isinstance(feedback, weir.PacketFeedback) and any(
            result.arrival is None for result in feedback.results
        ):
            raise ZeroDivisionError("nothing arrived")


def test_a_controller_sets_the_rate(call: Make) -> None:
    metrics = pl.DataFrame(call().run(controller=Constant).metrics())
    rate = metrics.filter(pl.col("stream") == "main.video")["sent_rate"][0]
    assert abs(rate - 500e3) < 25e3


def test_a_controller_learns_every_packet_once_and_in_order(call: Make) -> None:
    Watcher.seen.clear()
    call("400kbit/s").run(controller=Watcher, jobs=1)
    (watcher,) = Watcher.seen
    assert watcher.rates.call == "main"
    assert watcher.rates.min_rate <= watcher.rates.start_rate <= watcher.rates.max_rate
    assert watcher.sent == list(range(len(watcher.sent)))
    assert watcher.reported == list(range(len(watcher.reported)))
    assert len(watcher.reported) > 500
    assert watcher.reports >= 10
    assert watcher.ticks == [float(second) for second in range(1, 20)]


def test_classes_by_the_name_of_the_call(call: Make) -> None:
    results = call().run(controller={"main": Constant})
    metrics = pl.DataFrame(results.metrics())
    assert metrics.filter(pl.col("stream") == "main.video")["sent_rate"][0] < 550e3
    with pytest.raises(weir.Error, match="there is no call 'other' with video; there are main"):
        call().run(controller={"other": Constant})
    with pytest.raises(weir.Error, match="must be a class"):
        call().run(controller=1)  # type: ignore[arg-type]


def test_threads_change_nothing(call: Make) -> None:
    experiment = call("700kbit/s").set("host.alice.up.loss", "1%")
    one = experiment.run(controller=Constant, seeds=4, jobs=1)
    four = experiment.run(controller=Constant, seeds=4, jobs=4)
    assert pl.DataFrame(one.series()).equals(pl.DataFrame(four.series()))


def test_an_exception_fails_its_run_with_the_traceback_and_no_other(call: Make) -> None:
    experiment = call("700kbit/s").set("grid", '{"host.alice.up.loss"=["0%","10%"]}')
    experiment = experiment.set("call.main.max_rate", "300kbit/s")
    with pytest.raises(weir.RunError, match="1 of 2 runs failed") as raised:
        experiment.run(controller=Raises, seeds=[1])
    ((cell, seed, message),) = raised.value.failures
    assert (cell, seed) == ("host.alice.up.loss=10%", 1)
    assert "Traceback (most recent call last):" in message
    assert 'raise ZeroDivisionError("nothing arrived")' in message
    assert "the controller of call 'main' raised" in str(raised.value)
    assert len(raised.value.results) == 1
    kept = experiment.run(controller=Raises, seeds=[1], allow_failures=True)
    assert kept.failures == raised.value.failures


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"decision": float("nan")}, "target_rate is NaN"),
        ({"decision": -1.0}, "target_rate is -1"),
        ({"timeout": 0.0}, "next_timeout returned 0"),
    ],
)
def test_a_wrong_answer_fails_the_run(
    call: Make, answer: dict[str, float], message: str
) -> None:
    class Wrong(weir.Controller):
        def decision(self) -> weir.Decision:
            return weir.Decision(answer.get("decision", 1e6))

        def next_timeout(self) -> float | None:
            return answer.get("timeout")

    with pytest.raises(weir.RunError, match=message):
        call().run(controller=Wrong)


def test_a_store_is_refused(call: Make, tmp_path: object) -> None:
    with pytest.raises(weir.Error, match="leave out the store"):
        call().run(controller=Constant, store=f"{tmp_path}/runs.sqlite")


class ByDelay(weir.Receiver):
    """Sends back one and a half times the rate that arrived in the last second."""

    made: list[ByDelay] = []

    def __init__(self, rates: weir.Rates) -> None:
        self.packets: list[weir.ArrivedPacket] = []
        self.batches: list[int] = []
        self.told = 0
        self.ticks: list[float] = []
        self.message: weir.Remb | weir.CustomFeedback | None = None
        ByDelay.made.append(self)

    def on_packets(self, packets: list[weir.ArrivedPacket], rtt: float | None) -> None:
        self.packets += packets
        self.batches.append(len(packets))

    def on_timeout(self, now: float) -> None:
        self.ticks.append(now)
        size = sum(packet.size for packet in self.packets[self.told :])
        self.told = len(self.packets)
        self.message = weir.Remb(8.0 * size * 1.5)

    def next_timeout(self) -> float:
        return len(self.ticks) + 1.0

    def poll(self, now: float) -> weir.Remb | weir.CustomFeedback | None:
        message, self.message = self.message, None
        return message

    def signals(self) -> dict[str, float]:
        return {"batches": float(len(self.batches))}


class Obeys(weir.Controller):
    """Sends at the rate that the other half sends back."""

    receiver = ByDelay
    transport_feedback = False
    made: list[Obeys] = []

    def __init__(self, rates: weir.Rates) -> None:
        super().__init__(rates)
        self.messages: list[tuple[float, weir.Feedback]] = []
        self.frames: list[weir.MediaFrame] = []
        Obeys.made.append(self)

    def on_feedback(self, now: float, feedback: weir.Feedback) -> None:
        if not isinstance(feedback, weir.ReceiverReport):
            self.messages.append((now, feedback))
        if isinstance(feedback, weir.Remb):
            self.target_rate = feedback.rate

    def on_frame(self, now: float, frame: weir.MediaFrame) -> None:
        assert 0 < frame.size <= frame.queued
        self.frames.append(frame)

    def on_allocation(self, now: float, allocation: weir.Allocation) -> None:
        assert allocation.min_rate <= allocation.max_rate

    def signals(self) -> dict[str, float]:
        return {"frames": float(len(self.frames))}


def test_the_halves_speak_over_the_network(call: Make) -> None:
    ByDelay.made.clear()
    Obeys.made.clear()
    results = call().run(controller=Obeys)
    ((sender,), (receiver,)) = (Obeys.made, ByDelay.made)
    sequences = [packet.sequence for packet in receiver.packets]
    assert sequences == sorted(set(sequences)) and len(sequences) > 100
    assert all(packet.sent < packet.arrival for packet in receiver.packets)
    # Packets come together: fewer calls than packets, and none waits longer than 50 ms.
    assert len(receiver.batches) <= 20 / 0.05 + 20 < len(sequences)
    assert receiver.ticks == [float(second) for second in range(1, 21)][: len(receiver.ticks)]
    # Without transport-wide feedback only the messages of the half arrive, after the way back.
    assert all(isinstance(message, weir.Remb) for _, message in sender.messages)
    first, message = sender.messages[0]
    assert isinstance(message, weir.Remb)
    assert 1.02 <= first < 1.2
    assert len(sender.frames) > 300
    series = pl.DataFrame(results.series())
    names = set(series["name"])
    assert {"frames", "batches"} <= names
    last = series.filter(pl.col("name") == "batches")["value"][-1]
    assert last == len(receiver.batches)


def test_the_halves_have_messages_of_their_own(call: Make) -> None:
    class Counts(weir.Receiver):
        batch = 0.0

        def __init__(self, rates: weir.Rates) -> None:
            self.count = 0

        def on_packets(self, packets: list[weir.ArrivedPacket], rtt: float | None) -> None:
            assert len(packets) == 1
            self.count += 1

        def poll(self, now: float) -> weir.CustomFeedback | None:
            if self.count % 100:
                return None
            return weir.CustomFeedback("CNTS", self.count.to_bytes(4, "big"))

        def speaks_remb(self) -> bool:
            return False

    heard: list[int] = []

    class Listens(weir.Controller):
        receiver = Counts

        def on_feedback(self, now: float, feedback: weir.Feedback) -> None:
            if isinstance(feedback, weir.CustomFeedback):
                assert feedback.name == "CNTS"
                heard.append(int.from_bytes(feedback.data, "big"))

    call().run(controller=Listens)
    assert heard == [100 * (number + 1) for number in range(len(heard))] and heard
    with pytest.raises(ValueError, match="four ASCII characters"):
        weir.CustomFeedback("COUNT", b"")
    with pytest.raises(ValueError, match="has 3 bytes; it must have a multiple of 4"):
        weir.CustomFeedback("CNTS", b"abc")


def test_a_window_limits_what_leaves(call: Make) -> None:
    class Window(weir.Controller):
        """At most 12 kB leave every 200 ms, which is 480 kbit/s."""

        def __init__(self, rates: weir.Rates) -> None:
            super().__init__(rates)
            self.target_rate = 2e6
            self.at = 0.2

        def on_timeout(self, now: float) -> None:
            self.at = now + 0.2
            self.left = 12_000

        left = 12_000

        def on_sent(self, packets: list[weir.SentPacket]) -> None:
            self.left -= sum(packet.size for packet in packets)

        def next_timeout(self) -> float:
            return self.at

        def send_window(self) -> int:
            return max(self.left, 0)

    metrics = pl.DataFrame(call("5Mbit/s").run(controller=Window).metrics())
    rate = metrics.filter(pl.col("stream") == "main.video")["sent_rate"][0]
    assert 400e3 < rate <= 485e3


def test_a_controller_marks_its_packets(call: Make) -> None:
    class Marks(weir.Controller):
        marked = 0

        def ecn(self) -> weir.Ecn:
            return "ect1"

        def on_feedback(self, now: float, feedback: weir.Feedback) -> None:
            if isinstance(feedback, weir.PacketFeedback):
                Marks.marked += sum(result.ce for result in feedback.results)

    queue = "fq_codel ecn ce_threshold 1ms"
    call("400kbit/s", queue=queue).set("call.main.start_rate", "1Mbit/s").run(controller=Marks)
    assert Marks.marked > 100


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"ecn": lambda self: "ce"}, "ecn is 'ce'; write 'not-ect', 'ect0' or 'ect1'"),
        ({"frame_reduction": lambda self: 2.0}, "frame_reduction is 2; it must be from 0 to 1"),
        ({"padding_rate": lambda self: -1.0}, "padding_rate is -1; it must be at least 0 bit/s"),
        ({"pacing_burst": lambda self: -1.0}, "pacing_burst is -1; it must be at least 0 s"),
        ({"signals": lambda self: {"": 1.0}}, "the name of the signal '' does not have 1 to 64"),
        ({"receiver": int}, "TypeError"),
    ],
)
def test_a_wrong_optional_answer_fails_the_run(
    call: Make, methods: dict[str, object], message: str
) -> None:
    wrong = type("Wrong", (weir.Controller,), methods)
    with pytest.raises(weir.RunError, match=message):
        call(duration="2s").run(controller=wrong)


def test_an_exception_at_the_receiver_fails_the_run(call: Make) -> None:
    class Broken(weir.Receiver):
        def poll(self, now: float) -> weir.Remb | None:
            raise ZeroDivisionError("no rate")

    half = type("Half", (weir.Controller,), {"receiver": Broken})
    with pytest.raises(weir.RunError, match="no rate"):
        call(duration="2s").run(controller=half)
    text = type("Text", (weir.Receiver,), {"poll": lambda self, now: "remb"})
    half = type("Half", (weir.Controller,), {"receiver": text})
    with pytest.raises(weir.RunError, match="poll must return weir.Remb, weir.CustomFeedback"):
        call(duration="2s").run(controller=half)
