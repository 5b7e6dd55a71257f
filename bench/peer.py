"""Runs one other solver on the first rows of a raw file of scores, in a separate process to measure its time and memory.

    python bench/peer.py SOLVER SCORES ROWS LABELS [TRAINING]

Called by bench/peers.py. Writes the labels to LABELS, one byte per row, and prints the measurements as JSON. The target
counts are recomputed here from the scores. TRAINING contains labels of the first rows, for a solver that is trained.
"""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

CLASSES = 6
BITS = 40  # scores are rounded to multiples of 2^-BITS, as in the library


def main():
    name, file, rows, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    q = np.fromfile(file, np.float32, rows * CLASSES).reshape(rows, CLASSES)
    counts = targets(q)
    clock = Clock()
    begin = time.process_time()
    if name == "svc":
        labels = svc(q, np.fromfile(sys.argv[5], np.uint8), clock)
    else:
        labels = {f.__name__: f for f in (or_tools, pot, highs, assignment, polars, numpy)}[name](q, counts, clock)
    total = time.process_time() - begin
    found = {"seconds": clock.seconds, "total": total, "peak_kib": peak_kib(), "targets": counts, **clock.notes}
    labels.astype(np.uint8).tofile(out)
    print(json.dumps(found))


class Clock:
    """CPU seconds of all threads inside `with`: solving only, without set-up."""

    def __init__(self):
        self.seconds, self.notes = 0.0, {}

    def __enter__(self):
        self.begin = time.process_time()

    def __exit__(self, *_):
        self.seconds += time.process_time() - self.begin


def or_tools(q, counts, clock):
    """Minimum-cost flow from people to classes. A cost is the difference from the best score of the row, because small costs are faster."""
    from ortools.graph.python import min_cost_flow

    rows = len(q)
    # Costs times nodes must fit into 64 bits with a margin, so the grid is coarser above a million rows.
    clock.notes["bits"] = bits = min(BITS, 60 - rows.bit_length())
    flow = min_cost_flow.SimpleMinCostFlow()
    best = scaled(q.max(axis=1), bits)
    people = np.arange(rows, dtype=np.int32)
    ones = np.ones(rows, np.int64)
    for y in range(CLASSES):  # class by class, to use less memory
        classes = np.full(rows, rows + y, np.int32)
        flow.add_arcs_with_capacity_and_unit_cost(people, classes, ones, best - scaled(q[:, y], bits))
    supplies = np.concatenate([ones, -np.array(counts, np.int64)])
    flow.set_nodes_supplies(np.arange(rows + CLASSES, dtype=np.int32), supplies)
    del best, ones, classes, supplies
    with clock:
        status = flow.solve()
    if status != flow.OPTIMAL:
        sys.exit(f"OR-tools: {status}")
    labels = np.zeros(rows, np.uint8)
    for y in range(CLASSES):
        labels[flow.flows(people + y * np.int32(rows)) == 1] = y
    return labels


def pot(q, counts, clock):
    """Optimal transport by network simplex."""
    import ot

    cost = 1.0 - q.astype(np.float64)
    people, classes = np.ones(len(q)), np.array(counts, np.float64)
    with clock:
        plan = ot.emd(people, classes, cost, numItermax=10**9, numThreads=1)
    return whole(plan)


def highs(q, counts, clock):
    """Linear program, by the interior point method with crossover to a vertex: much faster here than the simplex method."""
    import highspy

    # The last class has no equation: the others imply it, and HiGHS would take long to detect this.
    rows, columns, last = len(q), q.size, CLASSES - 1
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, rows + last
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = q.astype(np.float64).ravel()
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    lp.row_lower_ = lp.row_upper_ = np.concatenate([np.ones(rows), np.array(counts[:last], np.float64)])
    person, y = np.divmod(np.arange(columns, dtype=np.int32), CLASSES)
    has_two = y < last  # a variable is in the equation of its person and of its class
    starts = np.concatenate([[0], np.cumsum(1 + has_two)]).astype(np.int32)
    equations = np.empty(starts[-1], np.int32)
    equations[starts[:-1]] = person
    equations[starts[:-1][has_two] + 1] = rows + y[has_two]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = starts, equations
    lp.a_matrix_.value_ = np.ones(len(equations))
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("solver", "ipm")
    solver.passModel(lp)
    with clock:
        solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        sys.exit(f"HiGHS: {solver.getModelStatus()}")
    return whole(np.array(solver.getSolution().col_value).reshape(q.shape))


def assignment(q, counts, clock):
    """Assignment problem: a class has one column per person of its target, so the matrix is square."""
    from scipy.optimize import linear_sum_assignment

    place = np.repeat(np.arange(CLASSES), counts)
    cost = np.negative(q[:, place], dtype=np.float64)
    with clock:
        _, columns = linear_sum_assignment(cost)
    return place[columns]


def svc(q, training, clock):
    """The paper's heuristic: a linear classifier is trained on exactly matched labels, and labels all rows."""
    from sklearn.svm import LinearSVC

    with clock:
        model = LinearSVC(C=100, random_state=0, max_iter=10_000).fit(q[: len(training)], training)
        return model.predict(q)


def polars(q, _, clock):
    """Argmax, column by column."""
    import polars as pl

    table = pl.DataFrame({str(y): np.ascontiguousarray(q[:, y]) for y in range(CLASSES)})
    best = pl.max_horizontal(table.columns)
    label = pl.coalesce(*[pl.when(pl.col(c) == best).then(pl.lit(int(c), pl.UInt8)) for c in table.columns])
    with clock:
        labels = table.select(label).to_series()
    return labels.to_numpy()


def numpy(q, _, clock):
    """Argmax."""
    with clock:
        return q.argmax(axis=1)


def scaled(scores, bits):
    """Returns scores as multiples of 2^-bits."""
    return np.rint(np.ldexp(scores.astype(np.float64), bits)).astype(np.int64)


def targets(q):
    """Returns the sums of the scores, rounded by largest remainders so that they add up to the number of rows."""
    sums = [int(scaled(q[:, y], BITS).sum()) for y in range(CLASSES)]
    quotas = [divmod(len(q) * s, sum(sums)) for s in sums]
    counts = [whole for whole, _ in quotas]
    by_remainder = sorted(range(CLASSES), key=lambda y: -quotas[y][1])
    for y in by_remainder[: len(q) - sum(counts)]:
        counts[y] += 1
    return counts


def whole(plan):
    """Returns the labels of a transport plan that does not split people."""
    if not np.allclose(plan.max(axis=1), 1.0, atol=1e-6):
        sys.exit("somebody is split between classes")
    return plan.argmax(axis=1)


def peak_kib():
    """Returns the peak memory of this process, from Linux: getrusage would include memory from before exec."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most // 1024 if sys.platform == "darwin" else most


if __name__ == "__main__":
    main()
