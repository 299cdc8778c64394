"""Calls as environments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray

import weir
import weir.gym

Make = Callable[..., weir.Experiment]


#: What a step gives: observation, reward, rate of arrival, delay of frames.
Step = tuple[NDArray[np.generic], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def play(env: weir.gym.VectorEnv, rate: float, seed: int = 1) -> list[Step]:
    """One episode at a fixed rate."""
    env.reset(seed=seed)
    steps: list[Step] = []
    over = np.zeros(1, np.bool_)
    while not over.all():
        seen, reward, _, over, info = env.step(np.full((env.num_envs, 1), rate))
        steps.append((seen, reward, info["arrived"], info["frame_delay"]))
    return steps


def feature(seen: NDArray[np.generic], number: int, interval: int) -> float:
    return float(seen[0, (number - 1) * 10 + interval])


def test_gymnasium_accepts_the_environment(call: Make) -> None:
    # Rates in bit/s are not within -1 and 1, which the checker warns of.
    with pytest.warns(UserWarning):
        check_env(weir.gym.CallEnv(call(duration="5s", audio=True)), skip_render_check=True)


def test_the_features_of_a_call_without_congestion(call: Make) -> None:
    env = weir.gym.VectorEnv(call("4Mbit/s", audio=True), 1)
    steps = play(env, 600_000.0)
    assert len(steps) == 333
    seen = steps[200][0]
    assert seen.shape == (1, 150) and seen.dtype == np.float32
    # Opus and 600 kbit/s of video.
    assert 550e3 < feature(seen, 1, 9) < 750e3
    for interval, seconds in ((4, 0.06), (9, 0.6)):
        assert feature(seen, 3, interval) == pytest.approx(
            feature(seen, 1, interval) * seconds / 8, rel=1e-5
        )
    # The propagation takes 25 ms, and a packet of 1200 bytes 2.4 ms.
    assert 25.0 < feature(seen, 6, 4) < 30.0
    assert feature(seen, 4, 9) == pytest.approx(
        feature(seen, 5, 9) + 200.0 - feature(seen, 6, 9), abs=1e-3
    )
    assert 1.0 <= feature(seen, 7, 9) < 1.6
    assert feature(seen, 8, 9) >= 0.0
    assert 0.0 < feature(seen, 9, 9) < 20.0
    assert feature(seen, 11, 9) == 0.0 and feature(seen, 12, 9) == 0.0
    assert feature(seen, 13, 9) + feature(seen, 14, 9) == pytest.approx(1.0)
    # One packet of audio each 20 ms.
    assert feature(seen, 14, 9) * feature(seen, 2, 9) == pytest.approx(30.0, abs=1.5)
    assert feature(seen, 15, 9) == 0.0
    # A long interval is ten short ones, and moves by one of them per step.
    packets = [feature(step[0], 2, 4) for step in steps]
    assert feature(steps[200][0], 2, 9) == sum(packets[191:201])
    assert feature(steps[200][0], 2, 8) == sum(packets[181:191])
    assert [feature(steps[200][0], 2, index) for index in range(5)] == packets[196:201]


def test_losses_are_counted(call: Make) -> None:
    env = weir.gym.VectorEnv(call("4Mbit/s", duration="60s").set("host.alice.up.loss", "10%"), 1)
    steps = play(env, 600_000.0)
    ratios = [feature(seen, 11, 9) for seen, *_ in steps[20:]]
    assert 0.07 < np.mean(ratios) < 0.13
    assert max(feature(seen, 12, 9) for seen, *_ in steps) >= 1.0


def test_the_same_seed_gives_the_same_bytes(traces: Path) -> None:
    def bytes_of(seed: int) -> bytes:
        env = weir.gym.VectorEnv(weir.gym.from_traces(traces, duration="5s"), 4)
        steps = play(env, 800_000.0, seed)
        return b"".join(part.tobytes() for step in steps for part in step)

    assert bytes_of(1) == bytes_of(1)
    assert bytes_of(1) != bytes_of(2)


def test_calls_do_not_disturb_each_other(traces: Path) -> None:
    networks = weir.gym.from_traces(traces, duration="5s")
    together = play(weir.gym.VectorEnv(networks, 4), 800_000.0, seed=1)
    for index in range(4):
        alone = play(weir.gym.VectorEnv(networks, 1), 800_000.0, seed=1 + index)
        assert [step[1][0] for step in alone] == [step[1][index] for step in together]


def test_an_action_takes_effect_when_it_has_crossed_the_network(call: Make) -> None:
    env = weir.gym.VectorEnv(call("4Mbit/s").set("host.bob.up.delay", "300ms"), 1)
    env.reset(seed=1)
    rates = [300e3] * 100 + [1500e3] * 100
    arrived = [float(env.step(np.array([rate]))[4]["arrived"][0]) for rate in rates]
    # 300 ms back and 25 ms forth are five and a half steps.
    assert np.mean(arrived[95:105]) < 500e3
    assert np.mean(arrived[150:]) > 1200e3


def test_sending_into_a_full_queue_earns_nothing(call: Make) -> None:
    # The queue holds two seconds: the link is always busy, and every frame is late.
    env = weir.gym.VectorEnv(call("1Mbit/s", duration="60s", queue="droptail limit 2s"), 1)
    fits, floods = play(env, 850_000.0), play(env, 8_000_000.0)
    late = slice(400, None)
    earned = [np.mean([step[1] for step in steps[late]]) for steps in (fits, floods)]
    arrived = [np.mean([step[2] for step in steps[late]]) for steps in (fits, floods)]
    assert arrived[1] > arrived[0], "the flood fills the link"
    assert earned[0] > 0.6
    assert earned[1] < 0.05 * earned[0]


def test_what_does_not_arrive_earns_exactly_nothing(call: Make) -> None:
    dead = call("1Mbit/s").set("host.alice.up.loss", "100%")
    assert all(reward == 0.0 for _, reward, *_ in play(weir.gym.VectorEnv(dead, 1), 8e6))


def test_the_reward_is_configurable_and_sees_only_the_far_end(call: Make) -> None:
    def less_delay(received: weir.gym.Received) -> NDArray[np.float64]:
        assert "sent" not in " ".join(received.info())
        return received.played / 1e6 - np.nan_to_num(received.frame_delay)

    network = call("4Mbit/s", duration="10s")
    plain, other = weir.gym.VectorEnv(network, 1), weir.gym.VectorEnv(network, 1, reward=less_delay)
    assert play(plain, 1e6)[-1][1] != play(other, 1e6)[-1][1]


def test_a_call_that_is_over_begins_again(call: Make) -> None:
    env = weir.gym.VectorEnv(call(duration="600ms"), 2)
    env.reset(seed=1)
    ends, rewards = [], []
    for _ in range(23):
        seen, reward, _, over, _ = env.step(np.full((2, 1), 300e3))
        ends.append(bool(over[0]))
        rewards.append(reward[0])
    # Ten steps, and one that begins again.
    assert [step for step, end in enumerate(ends) if end] == [9, 20]
    assert rewards[10] == 0.0 and rewards[21] == 0.0


def test_wrong_use_is_refused(call: Make, tmp_path: Path) -> None:
    with pytest.raises(weir.Error, match="there is no call 'other' with video"):
        weir.gym.VectorEnv(call(), 1, call="other")
    env = weir.gym.VectorEnv(call(), 1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.array([1e6]))
    env.reset(seed=1)
    with pytest.raises(ValueError, match="not a number"):
        env.step(np.array([np.nan]))
    with pytest.raises(ValueError, match="has no trace"):
        weir.gym.from_traces(tmp_path)
    (tmp_path / "bad").write_text("hello\n")
    with pytest.raises(weir.ExperimentError, match="bad"):
        weir.gym.from_traces(tmp_path)
