// Draws the charts, moves along the frontier, sorts and searches tables. Makes no network requests.
"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const looks = read("looks"), shapes = read("shapes"), root = document.documentElement;
  // Plotly would fetch base maps for outlines; these empty maps prevent that.
  for (const map of ["world_110m", "usa_110m"]) PlotlyGeoAssets.topojson[map] = { type: "Topology", objects: {}, arcs: [] };
  const NARROW = 620, PAPER = 650, PAGE = 740;
  const config = { displayModeBar: false, responsive: false, scrollZoom: false };
  const charts = [...document.querySelectorAll("figure.chart")].map((figure) => {
    const spec = JSON.parse(figure.querySelector(".spec").textContent);
    for (const trace of spec.data) if (trace.geojson) trace.geojson = shapes;
    return { figure, spec, plot: figure.querySelector(".plot") };
  });

  // Light or dark: the system's preference, until the reader chooses.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("look");
  let look = system.matches ? "dark" : "light";
  const wear = () => {
    root.dataset.look = look;
    button.textContent = look === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(look === "dark"));
  };
  button.addEventListener("click", () => { look = look === "dark" ? "light" : "dark"; wear(); drawAll(); });
  system.addEventListener("change", () => { look = system.matches ? "dark" : "light"; wear(); drawAll(); });
  wear();

  const layoutOf = (chart, width, template) => {
    const narrow = width < NARROW ? chart.spec.narrow : {};
    return { ...chart.spec.layout, ...narrow, template: template, width: width, autosize: false };
  };
  const draw = (chart, width = chart.plot.clientWidth, template = looks[look], most = Infinity) => {
    chart.width = width;
    // Plotly modifies the layout, so each call gets a copy.
    const layout = structuredClone(layoutOf(chart, width, template));
    layout.height = Math.min(layout.height, most);
    return Plotly.react(chart.plot, chart.spec.data, layout, config).then(() => { chart.figure.dataset.drawn = "yes"; });
  };
  const drawAll = () => Promise.all(charts.map((chart) => draw(chart)));

  // Draws one chart after the other, so that the page stays responsive.
  const drawInTurn = async () => {
    for (const chart of charts) {
      await draw(chart);
      await new Promise((next) => setTimeout(next, 0));
    }
    root.dataset.ready = "yes";
  };

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => charts.filter((chart) => chart.plot.clientWidth !== chart.width).forEach((chart) => draw(chart)), 150);
  });
  const paper = () => { root.dataset.look = "light"; charts.forEach((chart) => draw(chart, PAPER, looks.light, PAGE)); };
  addEventListener("beforeprint", paper);
  addEventListener("afterprint", () => { wear(); drawAll(); });

  for (const chart of charts) {
    const { figure, spec } = chart;
    figure.querySelector(".save").addEventListener("click", async () => {
      const layout = { ...layoutOf(chart, 1000, looks.light), paper_bgcolor: "#fff", title: undefined };
      const image = { format: "svg", width: 1000, height: layout.height };
      const address = await Plotly.toImage({ data: spec.data, layout: structuredClone(layout) }, image);
      const link = document.createElement("a");
      link.href = address;
      link.download = figure.dataset.name + ".svg";
      link.click();
    });
    const view = figure.querySelector(".view");
    if (view) view.addEventListener("change", () => {
      const update = spec.views[view.selectedIndex];
      for (const [name, values] of Object.entries(update)) spec.data.forEach((trace, place) => { trace[name] = values[place]; });
      draw(chart, chart.width);
    });
  }

  // The slider: the figures of the frontier at each stop.
  const slider = document.getElementById("stop");
  if (slider) {
    const stops = read("stops"), moving = charts.find((chart) => chart.figure.dataset.name === "frontier");
    const rows = [...document.querySelectorAll("#stop-counts tbody tr")];
    const minus = (text) => text.replace("-", "−");
    const signed = (number, digits) => {
      const text = Math.abs(number).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
      return (/[1-9]/.test(text) ? (number < 0 ? "−" : "+") : "") + text;
    };
    const show = (redraw) => {
      const point = stops.points[Number(slider.value)], all = point.counts.reduce((sum, count) => sum + count, 0);
      const gamma = point.to_gamma.toFixed(4), accuracy = point.accuracy.toFixed(4), fidelity = minus(point.fidelity.toFixed(4));
      document.getElementById("gamma").textContent = gamma;
      document.getElementById("accuracy").textContent = accuracy;
      document.getElementById("fidelity").textContent = fidelity;
      slider.setAttribute("aria-valuetext", `gamma ${gamma}, expected accuracy ${accuracy}, fidelity ${fidelity}`);
      rows.forEach((row, place) => {
        const cells = row.querySelectorAll("td"), count = point.counts[place], share = count / all;
        const percent = (reference) => reference > 0 ? signed(100 * (share / reference - 1), 1) + "%" : "–";
        cells[0].textContent = count.toLocaleString("en-US");
        cells[0].dataset.value = count;
        cells[1].textContent = signed((share - stops.posterior[place]) * stops.people, 0);
        cells[2].textContent = percent(stops.posterior[place]);
        if (cells[3]) cells[3].textContent = percent(stops.truth[place]);
      });
      Object.assign(moving.spec.data[1], { x: [point.fidelity], y: [point.accuracy] });
      if (redraw) Plotly.restyle(moving.plot, { x: [[point.fidelity]], y: [[point.accuracy]] }, [1]);
    };
    slider.addEventListener("input", () => show(moving.figure.dataset.drawn === "yes"));
    show(false);
  }

  // Sortable and searchable tables.
  for (const table of document.querySelectorAll(".table.sortable")) {
    const body = table.querySelector("tbody"), rows = [...body.rows], heads = [...table.querySelectorAll("thead th")];
    const keys = (column) => (row) => {
      const cell = row.cells[column];
      return cell.dataset.value !== undefined ? Number(cell.dataset.value) : cell.textContent;
    };
    const isText = (key) => typeof key === "string";
    heads.forEach((head, column) => head.querySelector(".sort").addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const way = before === "ascending" ? "descending" : before === "descending" ? "ascending" : column ? "descending" : "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", way);
      const key = keys(column), sign = way === "ascending" ? 1 : -1;
      const compare = (a, b) => {
        const [left, right] = [key(a), key(b)];
        // Missing values, which are text in numeric columns, come last in both directions.
        if (isText(left) !== isText(right)) return isText(left) ? 1 : -1;
        return sign * (isText(left) ? left.localeCompare(right, undefined, { numeric: true }) : left - right);
      };
      body.append(...rows.sort(compare));
    }));
    const search = table.querySelector(".search"), found = table.querySelector(".found");
    if (search) search.addEventListener("input", () => {
      const words = search.value.trim().toLocaleLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.cells[0].textContent.toLocaleLowerCase().includes(words);
        shown += row.hidden ? 0 : 1;
      }
      found.textContent = words ? `${shown.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")}` : "";
    });
  }

  drawInTurn();
})();
