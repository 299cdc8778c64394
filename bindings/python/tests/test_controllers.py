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
