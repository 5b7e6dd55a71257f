"""`calibrate` returns corrected scores in the type of the input, and applies saved calibrations."""

import json

import apportion
import numpy as np
import pandas as pd
import pytest

COLUMNS = ["p_white", "p_black", "p_hispanic", "p_asian", "p_aian", "p_other"]


def overconfident(rows, seed):
    """Simulated voters whose scores are too close to 0 and 1."""
    voters = apportion.simulate_voters(rows, seed=seed).to_pandas()
    raised = voters[COLUMNS].astype(float) ** 1.8
    return voters.assign(**raised.div(raised.sum(axis=1), axis=0))


@pytest.fixture(scope="module")
def voters():
    return overconfident(4_000, 3)


@pytest.mark.parametrize("method", ["logistic", "isotonic"])
def test_types_agree(voters, method):
    frame, result = apportion.calibrate(voters, truth="race", id="id", method=method, summary=True)
    assert list(frame.columns) == COLUMNS and frame.index.equals(voters.index)
    assert np.allclose(frame.sum(axis=1), 1)
    assert result["after"]["log_loss"] < result["before"]["log_loss"] and result["folds"] == 5
    classes = [name.removeprefix("p_") for name in COLUMNS]
    options = {"truth": voters["race"].to_numpy(), "id": voters["id"].to_numpy(), "classes": classes, "method": method}
    array = apportion.calibrate(voters[COLUMNS].to_numpy(), **options)
    assert np.array_equal(array, frame.to_numpy())
    # The order of the rows changes nothing.
    shuffled = voters.sample(frac=1, random_state=1)
    again = apportion.calibrate(shuffled, truth="race", id="id", method=method)
    pd.testing.assert_frame_equal(again.loc[frame.index], frame)


def test_a_calibration_is_used_again(voters, tmp_path):
    _, result = apportion.calibrate(voters, truth="race", summary=True)
    more = overconfident(500, 4)
    corrected = apportion.calibrate(more, calibration=result["calibration"])
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(result["calibration"]))
    pd.testing.assert_frame_equal(apportion.calibrate(more, calibration=path), corrected)
    # The documented formula.
    model = result["calibration"]["model"]
    logits = np.log(np.maximum(more[COLUMNS].to_numpy(dtype=float), 1e-6)) @ np.transpose(model["weights"])
    expected = np.exp(logits + model["intercepts"])
    assert np.allclose(corrected.to_numpy(), expected / expected.sum(axis=1, keepdims=True), atol=1e-9)
    more.to_csv(tmp_path / "more.csv", index=False)
    written = apportion.calibrate(tmp_path / "more.csv", calibration=path, output=tmp_path / "out.csv")
    assert list(pd.read_csv(written).columns) == list(more.columns)


def test_bad_truth_is_refused(voters):
    with pytest.raises(ValueError, match="truth"):
        apportion.calibrate(voters)
    with pytest.raises(ValueError, match="all people with known truth are"):
        apportion.calibrate(voters, truth=["white"] * len(voters))


def shifted(rows, shares, seed):
    """Scores that are calibrated for two equally large classes, and the truth, with other class shares."""
    chance = np.random.default_rng(seed)
    truth = (chance.random(rows) >= shares[0]).astype(int)
    odds = np.exp(2 * chance.normal(np.where(truth == 0, 1.0, -1.0), 1.0))
    return np.column_stack([odds, np.ones(rows)]) / (1 + odds)[:, None], np.array(["a", "b"])[truth]


def test_a_reference_is_estimated(tmp_path):
    scores, truth = shifted(3_000, (0.2, 0.8), 1)
    shares = {"a": 0.5, "b": 0.5}
    path = tmp_path / "shares.csv"
    path.write_text("class,share\na,0.5\nb,0.5\n")
    frame = pd.DataFrame({"class": ["a", "b"], "share": [0.5, 0.5]})
    solutions = [
        apportion.solve(scores, classes=["a", "b"], reference="em", training_shares=given)
        for given in (shares, pd.Series(shares), frame, path)
    ]
    first = solutions[0]
    assert all(own.targets == first.targets for own in solutions)
    assert abs(first.targets["a"] / 3_000 - 0.2) < 0.03 and first.counts == first.targets
    interval = first.details["reference_interval"][0]
    assert interval["low"] < first.details["reference_shares"][0] < interval["high"]
    known = np.where(np.arange(3_000) < 1_000, truth, None)
    pacc = apportion.solve(scores, classes=["a", "b"], reference="pacc", truth=known)
    assert abs(pacc.targets["a"] / 3_000 - 0.2) < 0.05
    decision = apportion.fit(scores, classes=["a", "b"], reference="em", training_shares=shares)
    labels = decision.apply(pd.DataFrame(scores, columns=["a", "b"]))
    assert (np.asarray(labels) == "a").sum() == first.targets["a"]
    apportion.frontier(scores, classes=["a", "b"], reference="em", training_shares=shares)
    with pytest.raises(ValueError, match="training_shares"):
        apportion.solve(scores, classes=["a", "b"], reference="em")
    with pytest.raises(TypeError, match="training_shares: it must be a file, a dict"):
        apportion.solve(scores, classes=["a", "b"], reference="em", training_shares=3)


def test_groups_have_their_own_intercepts(voters):
    frame, result = apportion.calibrate(voters, truth="race", id="id", by="county", summary=True)
    groups = result["calibration"]["groups"]
    sizes = voters["county"].value_counts()
    assert groups["columns"] == ["county"] and set(groups["intercepts"]) == set(sizes[sizes >= 5].index)
    assert list(frame.columns) == COLUMNS and np.allclose(frame.sum(axis=1), 1)
    again = apportion.calibrate(overconfident(500, 4), calibration=result["calibration"])
    assert len(again) == 500
