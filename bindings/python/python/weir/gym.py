"""Calls as environments of Gymnasium.

The agent sits at the receiver of a call, as in the bandwidth estimation challenge at ACM MMSys
2024: every 60 ms it sees what has arrived, and sets the target rate of the sender. The rate goes
back across the network as REMB, so an action takes effect when it has arrived.

The observation has the 150 values of the challenge: 15 features over 5 intervals of 60 ms and 5 of
600 ms, in the units of the challenge (`FEATURES`). Feature f of interval i has the index 10 f + i;
i is 0 to 4 for the short intervals and 5 to 9 for the long ones, oldest first.

The reward depends only on the frames that the far end played. What was sent earns nothing.

Any experiment is an environment. Each cell of its grid is a network, and each episode draws one of
the networks and a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from weir._weir import Calls, Experiment

#: The features of the observation and their units.
FEATURES: tuple[tuple[str, str], ...] = (
    ("receiving rate", "bit/s"),
    ("number of received packets", "packets"),
    ("received bytes", "bytes"),
    ("queuing delay", "ms"),
    ("delay minus 200 ms", "ms"),
    ("minimum seen delay", "ms"),
    ("delay ratio", "ms/ms"),
    ("delay average minimum difference", "ms"),
    ("packet interarrival time", "ms"),
    ("packet jitter", "ms"),
    ("packet loss ratio", "packets/packets"),
    ("average number of lost packets", "packets"),
    ("video packets probability", "packets/packets"),
    ("audio packets probability", "packets/packets"),
    ("probing packets probability", "packets/packets"),
)

#: The length of a step in seconds.
STEP = 0.06

#: The number of intervals per feature.
INTERVALS = 10

Floats: TypeAlias = NDArray[np.float64]
#: The reward of a step from what the far end has of it; one value per call.
Reward: TypeAlias = Callable[["Received"], Floats]


class Received:
    """What the far end has of the step, one value per call."""

    def __init__(self, facts: Floats) -> None:
        #: The rate of the frames that were played, bit/s.
        self.played: Floats = facts[:, 0] / STEP
        #: The same, with every frame multiplied by the usability of a conversation with its delay,
        #: 1 to 0 (ITU-T G.107: 1.00 at 150 ms from capture to play, 0.52 at 400 ms).
        self.useful: Floats = facts[:, 1] / STEP
        #: The number of frames that were played.
        self.frames: Floats = facts[:, 2].copy()
        with np.errstate(invalid="ignore"):
            #: Their mean delay from capture, s; not-a-number if there is none.
            self.frame_delay: Floats = facts[:, 3] / facts[:, 2]
        #: The rate of the packets that arrived, bit/s.
        self.arrived: Floats = facts[:, 4] / STEP
        #: The number of packets that were found missing.
        self.lost: Floats = facts[:, 5].copy()

    def info(self) -> dict[str, Floats]:
        """The values by name."""
        return dict(vars(self))


def useful_rate(received: Received) -> Floats:
    """The rate of played frames in Mbit/s, worth less the later they are."""
    return received.useful / 1e6


def from_traces(
    folder: str | PathLike[str],
    *,
    delays: Sequence[str] = ("10ms", "25ms", "50ms", "100ms"),
    queues: Sequence[str] = ("droptail limit 100ms", "droptail limit 300ms", "fq_codel"),
    duration: str = "60s",
    max_rate: str = "8Mbit/s",
    audio: bool = True,
) -> list[Experiment]:
    """Networks of one call across each trace of a folder, with each delay and each queue.

    Args:
        folder: Files of capacity over time, in the format of mahimahi or as time and rate
            (docs/guides/experiments.md). Hidden files are left out.
        delays: One-way delays of either direction.
        queues: Queues of the link, in the words of tc.
        duration: The length of an episode.
        max_rate: The maximum rate of the video.
        audio: Whether the call has audio.
    """
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    files = [path for path in files if not path.name.startswith(".")]
    if not files:
        raise ValueError(f"{folder}: the folder has no trace")
    return [
        Experiment.parse(
            f"""
title = "One call across a trace"
duration = "{duration}"
[host.alice]
up = {{ rate = {{ trace = {_quoted(path.resolve())} }}, delay = "25ms" }}
[host.bob]
up = {{ delay = "25ms" }}
[call.main]
from = "alice"
to = "bob"
controller = "gcc:libwebrtc"
max_rate = "{max_rate}"
audio = {str(audio).lower()}
video = {{ width = 1280, height = 720, fps = 30, max_rate = "{max_rate}" }}
[grid]
"host.alice.up.queue" = [{", ".join(_quoted(queue) for queue in queues)}]
[[axis]]
name = "delay"
points = [{", ".join(_delay(delay) for delay in delays)}]
""",
            path.name,
        )
        for path in files
    ]


def _quoted(text: object) -> str:
    """A string of TOML."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _delay(delay: str) -> str:
    """A point of the axis of delays."""
    value = _quoted(delay)
    return (
        f"{{ label = {value}, set = "
        f'{{ "host.alice.up.delay" = {value}, "host.bob.up.delay" = {value} }} }}'
    )


def _spaces(rates: tuple[float, float]) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """The spaces of the observation and of the action of one call."""
    shape = (len(FEATURES) * INTERVALS,)
    seen = gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float32)
    return seen, gymnasium.spaces.Box(*rates, (1,), np.float64)


class VectorEnv(gymnasium.vector.VectorEnv[NDArray[np.float32], Floats, NDArray[Any]]):
    """Several calls in one process, advanced together.

    Each action is the target rate of a call in bit/s. A call that is over begins again with the
    next step, in another network and with another seed; that step has reward 0 (`AutoresetMode`
    `NEXT_STEP`). The same seed gives the same bytes.

    Args:
        networks: Experiments; each cell is a network.
        count: The number of calls.
        call: The name of the call in every network.
        rates: The least and the greatest action. The limits of the call in its experiment hold too.
        reward: Computes the reward of a step from what the far end has of it.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(
        self,
        networks: Experiment | Sequence[Experiment],
        count: int = 16,
        *,
        call: str = "main",
        rates: tuple[float, float] = (50_000.0, 8_000_000.0),
        reward: Reward = useful_rate,
    ) -> None:
        listed = [networks] if isinstance(networks, Experiment) else list(networks)
        self._calls = Calls(listed, call, count)
        self._rates = rates
        self._reward = reward
        self.num_envs = count
        self.single_observation_space, self.single_action_space = _spaces(rates)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, count)
        self.action_space = batch(self.single_action_space, count)
        self._seen = np.zeros((count, len(FEATURES) * INTERVALS), np.float32)
        self._facts = np.zeros((count, 6))
        self._over = np.zeros(count, np.uint8)
        self._draws = [np.random.default_rng() for _ in range(count)]
        self._begun = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins all calls. A number as seed gives call i the seed `seed + i`."""
        if isinstance(seed, int):
            seed = [seed + index for index in range(self.num_envs)]
        for index, own in enumerate(seed if seed is not None else ()):
            if own is not None:
                self._draws[index] = np.random.default_rng(own)
        for index in range(self.num_envs):
            self._begin(index)
        self._begun = True
        return self._seen.copy(), {}

    def step(
        self, actions: Floats
    ) -> tuple[NDArray[np.float32], Floats, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Advances all calls by 60 ms."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("call reset before step")
        rates = np.clip(np.asarray(actions, np.float64).reshape(self.num_envs), *self._rates)
        if np.isnan(rates).any():
            raise ValueError("an action is not a number")
        again = self._over.astype(bool)
        if again.any():
            for index in np.flatnonzero(again):
                self._begin(int(index))
            rates[again] = np.nan
        self._calls.step(rates, self._seen, self._facts, self._over)
        received = Received(self._facts)
        rewards = np.asarray(self._reward(received), np.float64)
        rewards[again] = 0.0
        ended = np.zeros(self.num_envs, np.bool_)
        return self._seen.copy(), rewards, ended, self._over.astype(bool), received.info()

    def _begin(self, index: int) -> None:
        """Begins a call in a network and with a seed that are drawn."""
        draw = self._draws[index]
        network = int(draw.integers(self._calls.networks))
        self._calls.begin(index, network, int(draw.integers(2**63)))
        self._seen[index] = 0.0
        self._facts[index] = 0.0
        self._over[index] = 0


class CallEnv(gymnasium.Env[NDArray[np.float32], Floats]):
    """One call. The action is its target rate in bit/s, as an array of one number.

    The arguments are those of `VectorEnv` without `count`.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        networks: Experiment | Sequence[Experiment],
        *,
        call: str = "main",
        rates: tuple[float, float] = (50_000.0, 8_000_000.0),
        reward: Reward = useful_rate,
    ) -> None:
        self._calls = VectorEnv(networks, 1, call=call, rates=rates, reward=reward)
        self.observation_space = self._calls.single_observation_space
        self.action_space = self._calls.single_action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a call in a network and with a seed that are drawn."""
        super().reset(seed=seed)
        seen, info = self._calls.reset(seed=seed, options=options)
        return seen[0], info

    def step(
        self, action: Floats
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Advances the call by 60 ms."""
        seen, rewards, ended, over, info = self._calls.step(np.atleast_1d(action))
        first = {name: float(values[0]) for name, values in info.items()}
        return seen[0], float(rewards[0]), bool(ended[0]), bool(over[0]), first
