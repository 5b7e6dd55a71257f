"""People who do not exist, with the scores that nobody could better: the paper's simulations, and a voter file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ._run import run


def simulate_normal(
    rows: int = 5000,
    *,
    variance: float = 0.5,
    prior: Sequence[float] | None = None,
    seed: int = 0,
    single: bool = False,
) -> pa.Table:
    """A point with normal noise around the true class, and its exact probabilities: the paper's simulation.

    >>> import apportion
    >>> apportion.simulate_normal(1000, variance=0.5, seed=1).column_names
    ['id', 'truth', 'p_1', 'p_2', 'p_3', 'p_4', 'p_5', 'p_6']

    Args:
        rows: how many people.
        variance: of every coordinate. Little leaves no doubt of the truth, much nothing but the shares.
        prior: the shares of the classes; those of the paper where it is not given.
        seed: another seed, other people.
        single: scores in single precision.
    """
    return _made("normal", rows, seed, single, variance=variance, prior=prior)


def simulate_categorical(
    rows: int = 5000, *, signal: float = 0.5, prior: Sequence[float] | None = None, seed: int = 0, single: bool = False
) -> pa.Table:
    """One category is known: the true class with the chance `signal`, else any.

    >>> import apportion
    >>> apportion.simulate_categorical(10, signal=1.0, seed=1).num_rows
    10
    """
    return _made("categorical", rows, seed, single, signal=signal, prior=prior)


def simulate_worst_case(
    rows: int = 5000,
    *,
    classes: int = 6,
    unknown: float = 0.6,
    others: float = 0.0,
    seed: int = 0,
    single: bool = False,
) -> pa.Table:
    """All is known of a person, or nothing: where argmax's bias is as large as it can be (the paper's Theorem 1).

    >>> import apportion
    >>> people = apportion.simulate_worst_case(1000, unknown=0.5)
    >>> comparison = apportion.compare(people, truth="truth")
    """
    return _made("worst_case", rows, seed, single, classes=classes, unknown=unknown, others=others)


def simulate_voters(
    rows: int = 100_000, *, seed: int = 0, single: bool = False, no_scores: bool = False
) -> pa.Table:
    """A voter file of North Carolina: county and class by the Census, and the scores that BISG would give.

    With `no_scores`, names and places alone, as a voter file has them; `predict` makes scores of them.

    >>> import apportion
    >>> voters = apportion.simulate_voters(1000, seed=1)
    >>> labels = apportion.label(voters, by="county", id="id")
    """
    return _made("voters", rows, seed, single, no_scores=no_scores)


def _made(what: str, rows: int, seed: int, single: bool, **options: Any) -> pa.Table:
    options |= {"rows": rows, "seed": seed, "double": not single}
    made = run(f"simulate_{what}", None, options).rows()
    assert made is not None  # there is at least one row
    return made
