"""Simulated people with exact scores: the paper's simulations, and a voter file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ._options import suggests
from ._run import run


@suggests
def simulate_normal(
    rows: int = 5000,
    *,
    variance: float = 0.5,
    prior: Sequence[float] | None = None,
    seed: int = 0,
    single: bool = False,
) -> pa.Table:
    """Simulates points with normal noise around the true class, and their exact class probabilities, as in the paper.

    >>> import apportion
    >>> apportion.simulate_normal(1000, variance=0.5, seed=1).column_names
    ['id', 'truth', 'p_1', 'p_2', 'p_3', 'p_4', 'p_5', 'p_6']

    Args:
        rows: number of people.
        variance: variance of the noise of each coordinate. The smaller it is, the more certain the scores.
        prior: class shares. Default: those of the paper, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125.
        seed: random seed.
        single: whether scores are in single precision.
    """
    return _made("normal", rows, seed, single, variance=variance, prior=prior)


@suggests
def simulate_categorical(
    rows: int = 5000, *, signal: float = 0.5, prior: Sequence[float] | None = None, seed: int = 0, single: bool = False
) -> pa.Table:
    """Simulates people with one known category: the true class with probability `signal`, otherwise a random class.

    >>> import apportion
    >>> apportion.simulate_categorical(10, signal=1.0, seed=1).num_rows
    10

    Args:
        rows: number of people.
        signal: probability that the category reveals the true class.
        prior, seed, single: as for `simulate_normal`.
    """
    return _made("categorical", rows, seed, single, signal=signal, prior=prior)


@suggests
def simulate_worst_case(
    rows: int = 5000,
    *,
    classes: int = 6,
    unknown: float = 0.6,
    others: float = 0.0,
    seed: int = 0,
    single: bool = False,
) -> pa.Table:
    """Simulates the worst case for the bias of argmax (Theorem 1 of the paper): the class is either known or unknown.

    >>> import apportion
    >>> people = apportion.simulate_worst_case(1000, unknown=0.5)
    >>> comparison = apportion.compare(people, truth="truth")

    Args:
        rows: number of people.
        classes: number of classes.
        unknown: share of people about whom nothing is known: the paper's c.
        others: share of people known to belong to a class other than the first: the paper's e.
        seed, single: as for `simulate_normal`.
    """
    return _made("worst_case", rows, seed, single, classes=classes, unknown=unknown, others=others)


@suggests
def simulate_voters(
    rows: int = 100_000,
    *,
    prior_shift: float = 0,
    sharpen: float = 1,
    noise: float = 0,
    merge: Mapping[str, str] | None = None,
    seed: int = 0,
    single: bool = False,
    no_scores: bool = False,
) -> pa.Table:
    """Simulates a voter file of North Carolina: names and places from Census tables, party, turnout and BISG scores.

    The columns are `id`, `county`, `county_fips`, `tract`, `block_group`, `zip`, `first_name`, `surname`, `party`,
    `voted` (0 or 1), the true class `race`, and, unless `no_scores` is set, scores from surname and county. ZIP codes are
    drawn independently of counties. Party and turnout are made up: they depend on the class, and on the share of white
    people among the adults of the tract (party) or the county (turnout).

    >>> import apportion
    >>> voters = apportion.simulate_voters(1000, seed=1)
    >>> labels = apportion.label(voters, id="id")

    Args:
        rows: number of people.
        prior_shift: shift of the class shares behind the scores, from voters (0) to all residents (1).
        sharpen: power that scores are raised to; above 1, scores are overconfident.
        noise: noise in the tables that people are drawn from, relative to the tables of the scores.
        merge: classes to merge: {"aian": "other"} leaves five classes.
        seed: random seed.
        single: whether scores are in single precision.
        no_scores: whether to leave out the scores.
    """
    shape = {"prior_shift": prior_shift, "sharpen": sharpen, "noise": noise, "merge": merge}
    return _made("voters", rows, seed, single, no_scores=no_scores, **shape)


def _made(what: str, rows: int, seed: int, single: bool, **options: Any) -> pa.Table:
    options |= {"rows": rows, "seed": seed, "double": not single}
    made = run(f"simulate_{what}", None, options).rows()
    assert made is not None  # there is always at least one row
    return made
