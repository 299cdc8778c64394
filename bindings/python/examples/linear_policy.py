"""Trains a linear policy for the rate of a call with CMA-ES, and compares it with fixed rates.

The policy is the received rate times exp(w · x), with three values x of the observation: a constant,
the queuing delay of the last 60 ms and the loss ratio of the last 600 ms. It shows the loop and
claims no more.

    python linear_policy.py FOLDER_OF_TRACES
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray

import weir
import weir.gym

Floats = NDArray[np.float64]
#: Rates in bit/s from a batch of observations.
Policy = Callable[[NDArray[np.float32]], Floats]

#: The rate before anything has arrived, and the least rate of the policy, bit/s.
START, LEAST = 300_000.0, 100_000.0


def value(seen: NDArray[np.float32], feature: int, interval: int) -> Floats:
    """A feature of the newest short (4) or long (9) interval."""
    return seen[:, (feature - 1) * weir.gym.INTERVALS + interval].astype(np.float64)


def linear(weights: Floats) -> Policy:
    """The policy with these weights. `weights` may have a row per call."""

    def rates(seen: NDArray[np.float32]) -> Floats:
        received = np.maximum(value(seen, 1, 9), LEAST)
        delay, lost = value(seen, 4, 4) / 100.0, value(seen, 11, 9)
        features = np.stack([np.ones_like(delay), delay, lost], axis=1)
        exponent = np.clip((features * weights).sum(axis=1), -2.0, 1.0)
        return np.where(value(seen, 2, 9) > 0.0, received * np.exp(exponent), START)

    return rates


def fixed(rate: float) -> Policy:
    """The same rate always."""
    return lambda seen: np.full(len(seen), rate)


def rewards(env: weir.gym.VectorEnv, policy: Policy, seed: int) -> Floats:
    """The mean reward of a step of each call over one episode, which has the same length in all.

    All calls of a group of `seed`s draw the same networks.
    """
    seen, _ = env.reset(seed=[seed + index for index in range(env.num_envs)])
    total, steps, over = np.zeros(env.num_envs), 0, np.zeros(env.num_envs, np.bool_)
    while not over.all():
        seen, reward, _, over, _ = env.step(policy(seen))
        total += reward
        steps += 1
    return total / steps


def train(
    networks: Sequence[weir.Experiment], *, generations: int = 6, calls: int = 8, seed: int = 1
) -> Floats:
    """The weights after some generations of CMA-ES."""
    optimizer = CMA(mean=np.array([0.0, -0.5, -0.5]), sigma=0.3, seed=seed, population_size=8)
    env = weir.gym.VectorEnv(networks, calls)
    for generation in range(generations):
        asked = [optimizer.ask() for _ in range(optimizer.population_size)]
        # Every candidate meets the same calls; the next generation meets others.
        scores = [
            (one, -float(rewards(env, linear(one), seed + 1000 * generation).mean())) for one in asked
        ]
        optimizer.tell(scores)
    return np.asarray(optimizer.mean, np.float64)


def main(folder: str) -> None:
    """Trains on the first traces of a folder, and tests on other calls."""
    networks = weir.gym.from_traces(folder, duration="30s")
    weights = train(networks)
    env = weir.gym.VectorEnv(networks, 16)
    print("weights", weights)
    print(f"policy: {rewards(env, linear(weights), 10_000).mean():.3f}")
    for rate in (0.3e6, 0.6e6, 1.2e6, 2.4e6):
        print(f"fixed {rate / 1e6} Mbit/s: {rewards(env, fixed(rate), 10_000).mean():.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
