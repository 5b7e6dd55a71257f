"""Charts of a report as Plotly figures, with a title and a legend. They are also shown in exported notebooks."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go

#: Heights in pixels of the title above a chart, and of the legend below it.
TITLE = 44
LEGEND = 30
#: The type of a figure in the outputs of a notebook, which only notebooks show.
OWN = "application/vnd.plotly.v1+json"


class Figure(go.Figure):  # type: ignore[misc]
    """A figure whose output in a notebook also contains HTML, for exports of the notebook. It loads Plotly's script."""

    def _repr_mimebundle_(self, *args: Any, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(*args, **kwargs)
        if OWN in bundle and "text/html" not in bundle:
            bundle["text/html"] = self.to_html(include_plotlyjs="cdn", full_html=False)
        return bundle

    def _ipython_display_(self) -> None:
        from IPython.display import display

        bundle = self._repr_mimebundle_()
        if bundle:
            display(bundle, raw=True)  # type: ignore[no-untyped-call]
        else:
            super()._ipython_display_()  # a renderer that opens a window


def figure(specification: str, title: str) -> Figure:
    """Returns a chart as a figure."""
    content = json.loads(specification)
    layout = content["layout"]
    # Only the page has a slider.
    traces = content["data"] = [trace for trace in content["data"] if trace.get("name") != "the slider"]
    margin = layout["margin"]
    margin["t"] += TITLE
    layout["height"] += TITLE
    layout["title"] = {
        "text": title, "font": {"size": 16}, "x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top",
        "pad": {"t": 14, "l": 16},
    }  # fmt: skip
    # Fewer buttons, which leave room for the title.
    layout["modebar"] = {"remove": ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"]}
    if not layout.get("showlegend"):
        _explain(layout, traces)
    return Figure(content, skip_invalid=False)


def _explain(layout: dict[str, Any], traces: list[dict[str, Any]]) -> None:
    """Adds a legend if several panels, in different colors, have parts of the same names."""
    axes: dict[str, set[str]] = {}
    for trace in traces:
        axes.setdefault(trace.get("name", ""), set()).add(trace.get("xaxis", "x"))
    if "" in axes or not any(len(own) > 1 for own in axes.values()):
        return
    entries: list[dict[str, Any]] = []
    for name in axes:
        own = next(trace for trace in traces if trace["name"] == name)
        marker = own.get("marker", {})
        opacity = marker.get("opacity", 1)
        marker = {**marker, "color": f"rgba(106, 112, 120, {opacity})", "opacity": 1}
        kept: dict[str, Any] = {key: own[key] for key in ("type", "mode", "orientation") if key in own}
        entries.append({**kept, "name": name, "marker": marker, "x": [None], "y": [None], "legendgroup": name})
    for trace in traces:
        trace.update(legendgroup=trace["name"], showlegend=False)
    traces += entries
    layout["margin"]["b"] += LEGEND
    layout["height"] += LEGEND
    layout["showlegend"] = True
    layout["legend"] = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "itemsizing": "constant"}
