"""The example of a trained policy."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import linear_policy  # noqa: E402

import weir.gym  # noqa: E402


def test_a_trained_policy_beats_every_fixed_rate(traces: Path) -> None:
    networks = weir.gym.from_traces(traces, duration="20s", delays=["25ms"], audio=False)
    weights = linear_policy.train(networks, generations=5, calls=8)
    env = weir.gym.VectorEnv(networks, 16)
    # Other calls than those of the training.
    trained = linear_policy.rewards(env, linear_policy.linear(weights), 10_000).mean()
    for rate in (0.3e6, 0.6e6, 1.2e6, 2.4e6):
        fixed = linear_policy.rewards(env, linear_policy.fixed(rate), 10_000).mean()
        assert trained > fixed, f"{trained} against {fixed} at {rate}"
