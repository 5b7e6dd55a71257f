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
