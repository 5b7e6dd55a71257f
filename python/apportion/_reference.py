"""Class shares given as a dict, a Series, a list, an array, a frame or a crosstab, as a table for the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ._frames import _arrow


def shares_table(name: str, given: Any, classes: Sequence[str] | None) -> pa.Table:
    """Returns shares as a table of classes and shares, and of groups if there are any. Counts become shares.

    `classes` are the classes that a list or an array is for, if they are known.
    """
    if type(given).__name__ == "Series" and hasattr(given, "to_dict"):
        given = given.to_dict()
    if isinstance(given, (list, tuple, np.ndarray)):
        given = _in_order(name, given, classes)
    is_frame = type(given).__module__.partition(".")[0] == "pandas"
    if is_frame and not {"class", "share"} <= {str(column).strip().lower() for column in given.columns}:
        given = _of_crosstab(name, given)
    if isinstance(given, Mapping):
        by_group = given if given and all(isinstance(own, Mapping) for own in given.values()) else {None: given}
        rows = [(group, own, share) for group, shares in by_group.items() for own, share in _as_shares(shares).items()]
        columns = {"class": [str(own) for _, own, _ in rows], "share": [str(share) for _, _, share in rows]}
        return pa.table(columns if by_group is not given else {"group": [str(group) for group, _, _ in rows], **columns})
    if is_frame:
        return _arrow(pa.Table.from_pandas, given, preserve_index=False)
    if type(given).__module__.partition(".")[0] == "polars" and hasattr(given, "to_arrow"):
        given = given.to_arrow()  # without the Arrow stream of newer versions
    if hasattr(given, "__arrow_c_stream__"):
        return _arrow(pa.table, given)
    names = "'posterior', 'truth', 'uniform', 'em', 'pacc', " if name == "reference" else ""
    raise TypeError(
        f"{name}: it must be {names}a file, a dict of shares, or a frame with the columns class and share, "
        f"not a {type(given).__name__}"
    )


def _as_shares(shares: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Divides whole numbers by their sum, if it is more than 1: they are counts."""
    values = list(shares.values())
    are_whole = all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values)
    total = int(sum(values)) if are_whole and values else 0
    return {name: int(value) / total for name, value in shares.items()} if total > 1 else shares


def _in_order(name: str, given: Any, classes: Sequence[str] | None) -> dict[str, Any]:
    """Returns the shares of a list or an array, which are in the order of the classes of an array of scores."""
    values = np.asarray(given)
    if classes is None:
        raise TypeError(f"{name}: shares without names are only for scores in an array; use a dict {{class: share}}")
    if values.shape != (len(classes),):
        raise ValueError(f"{name}: {len(classes)} shares are required, one per class, not an array of shape {values.shape}")
    return dict(zip(classes, values.tolist(), strict=True))


def _of_crosstab(name: str, frame: Any) -> dict[str, dict[Any, Any]]:
    """Returns the shares of a frame with one row per group and one column per class."""
    if frame.index.nlevels > 1 or not all(kind.kind in "iuf" for kind in frame.dtypes):
        raise ValueError(
            f"{name}: the frame must have the columns class and share (and group), or be a crosstab with one row per group "
            "and one column of numbers per class"
        )
    return {str(group): frame.loc[group].to_dict() for group in frame.index}
