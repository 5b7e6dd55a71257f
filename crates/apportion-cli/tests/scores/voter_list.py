"""Measures the voter list on names that are also on the Census list, as if the Census list did not have them.

The truth is P(class | name) of the Census list. The log loss of a name is its expected value, so nothing is drawn.
"""

import numpy

from tables import VoterList, normalized, voter_names

SMOOTHINGS = [0, 1, 2, 5, 10, 20, 50]
SMALL = 3000


def log_loss(truth, scores):
    """Returns the mean log loss of scores if the classes have the shares of the truth; None if it is infinite."""
    if (scores[truth > 0] == 0).any():
        return None
    return float(-(truth * numpy.log(numpy.where(truth > 0, scores, 1))).sum(axis=1).mean())


def measure(world):
    surnames = world.surnames
    both = numpy.intersect1d(surnames.names, voter_names())
    if world.count < 1_000_000:
        both = world.chance.choice(both, SMALL, replace=False)
    voters = VoterList(both)
    order = numpy.argsort(surnames.names)
    rows = order[numpy.searchsorted(surnames.names, voters.names, sorter=order)]
    truth, counts = surnames.shares[rows], surnames.counts[rows]
    results = {"names": len(both), "halves": {}}
    for half, kept in {"rarer": counts <= numpy.median(counts), "all": counts > 0}.items():
        scores = lambda likelihoods: normalized(likelihoods[kept] * surnames.margin)
        without = numpy.tile(surnames.unlisted, (len(rows), 1))
        losses = {
            "names": int(kept.sum()),
            "without": log_loss(truth[kept], scores(without)),
            "census": log_loss(truth[kept], truth[kept]),
            "with": [log_loss(truth[kept], scores(voters.likelihoods(kappa))) for kappa in SMOOTHINGS],
            "at_least_25": [log_loss(truth[kept], scores(voters.likelihoods(kappa, least=25))) for kappa in SMOOTHINGS],
        }
        chosen = losses["with"][SMOOTHINGS.index(5)]
        assert chosen < 0.85 * losses["without"], losses
        assert chosen < min(loss for loss in losses["with"] if loss) + 0.02, losses
        print(f"voter list, {half} names: {chosen:.3f} with the list, {losses['without']:.3f} without it", flush=True)
        results["halves"][half] = losses
    return {"smoothings": SMOOTHINGS, **results}
