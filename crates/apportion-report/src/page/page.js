// Draws the charts and maps, moves along the frontier, shows definitions, sorts and searches tables. Makes no network requests.
"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const looks = read("looks"), outlines = read("outlines"), root = document.documentElement;
  const NARROW = 620, PAPER = 650, PAGE = 740, SVG = "http://www.w3.org/2000/svg";
  const config = { displayModeBar: false, responsive: false, scrollZoom: false };
  const charts = [...document.querySelectorAll("figure.chart")].map((figure) => {
    const spec = JSON.parse(figure.querySelector(".spec").textContent);
    return { figure, spec, plot: figure.querySelector(".plot"), isMap: spec.main.data[0]?.type === "choropleth" };
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

  // The main rules or all rules.
  const rulesButton = document.getElementById("all-rules"), moreRules = rulesButton?.textContent;
  const showRules = (which) => {
    root.dataset.rules = which;
    if (rulesButton) rulesButton.setAttribute("aria-pressed", String(which === "all"));
    if (rulesButton) rulesButton.textContent = which === "all" ? "Show main rules" : moreRules;
    for (const option of document.querySelectorAll("option.more")) option.hidden = option.disabled = which !== "all";
  };
  if (rulesButton) rulesButton.addEventListener("click", () => {
    showRules(root.dataset.rules === "all" ? "main" : "all");
    charts.filter((chart) => chart.spec.all).forEach((chart) => draw(chart));
  });
  showRules("main");
  const partOf = (chart) => (root.dataset.rules === "all" && chart.spec.all) || chart.spec.main;

  // The tooltip of terms and maps.
  const tip = document.getElementById("tip");
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(x, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + box.height + 20 < innerHeight ? y + 14 : Math.max(8, y - box.height - 14)) + "px";
  };
  const hideTip = () => { tip.hidden = true; };
  const define = (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const term = target?.closest(".term") ?? (event.type === "focusin" ? target?.querySelector?.(":scope > .term") : null);
    if (!term) return;
    const box = term.getBoundingClientRect();
    showTip(document.getElementById(term.dataset.term ?? term.getAttribute("aria-describedby")).textContent, box.left, box.bottom - 8);
  };
  addEventListener("pointerover", define);
  addEventListener("focusin", define);
  addEventListener("pointerout", (event) => { if (event.target instanceof Element && event.target.closest(".term, .area")) hideTip(); });
  addEventListener("focusout", hideTip);
  addEventListener("scroll", hideTip, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });

  // Maps are drawn as SVG: one path per group, colored by its value.
  const element = (name, attributes, ...children) => {
    const own = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) own.setAttribute(key, value);
    own.append(...children);
    return own;
  };
  const mixed = (scale, at) => {
    const next = Math.max(1, scale.findIndex(([stop]) => stop >= at)), [low, from] = scale[next - 1], [high, to] = scale[next];
    const part = high > low ? (at - low) / (high - low) : 0;
    const channel = (color, place) => parseInt(color.slice(1 + 2 * place, 3 + 2 * place), 16);
    return "rgb(" + [0, 1, 2].map((place) => Math.round(channel(from, place) * (1 - part) + channel(to, place) * part)).join(" ") + ")";
  };
  const plain = (text) => new DOMParser().parseFromString(text, "text/html").documentElement.textContent;
  const mapOf = (chart, width, most) => {
    const data = chart.spec.main.data, titles = chart.spec.main.layout.annotations ?? [];
    const columns = width < NARROW ? 1 : data.length > 3 ? 2 : data.length, room = width / columns - 16;
    const rows = Math.ceil(data.length / columns), tallest = Math.min(400, (most - 60) / rows - 34);
    const scale = Math.min(room / outlines.width, tallest / outlines.height), tall = scale * outlines.height + 34;
    const height = rows * tall + 60;
    const svg = element("svg", { class: "main-svg", xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` });
    data.forEach((trace, panel) => {
      const left = (panel % columns) * (width / columns), top = Math.floor(panel / columns) * tall;
      const title = element("text", { class: "map-text", x: left + width / columns / 2, y: top + 18, "text-anchor": "middle" }, plain(titles[panel]?.text ?? ""));
      const inset = left + (width / columns - scale * outlines.width) / 2;
      const shapes = element("g", { class: "points", transform: `translate(${inset} ${top + 28}) scale(${scale})` });
      trace.locations.forEach((group, place) => {
        const at = Math.min(1, Math.max(0, (trace.z[place] - trace.zmin) / (trace.zmax - trace.zmin)));
        const area = element("path", { class: "area", d: outlines.paths[group], fill: mixed(trace.colorscale, at), "vector-effect": "non-scaling-stroke" });
        area.tip = `${plain(trace.text[place])}: ${shown(trace, trace.z[place], 2)} ${unitOf(trace)}`;
        shapes.append(area);
      });
      svg.append(title, shapes);
    });
    // The legend: the color scale, its ends and its middle.
    const { colorscale, zmin, zmax } = data[0], from = Math.max(16, width / 2 - 140), long = Math.min(280, width - 60);
    for (let step = 0; step < 40; step++) svg.append(element("rect", { x: from + (step / 40) * long, y: height - 44, width: long / 40 + 0.5, height: 10, fill: mixed(colorscale, (step + 0.5) / 40) }));
    [[0, zmin], [0.5, (zmin + zmax) / 2], [1, zmax]].forEach(([at, value]) => svg.append(element("text", { class: "map-text", x: from + at * long, y: height - 18, "text-anchor": "middle" }, shown(data[0], value, 1))));
    svg.append(element("text", { class: "map-text", x: from + long / 2, y: height - 2, "text-anchor": "middle" }, unitOf(data[0])));
    return svg;
  };
  const drawMap = (chart, width, most) => {
    const svg = mapOf(chart, width, Math.min(most, 2000));
    svg.addEventListener("pointermove", (event) => { if (event.target.tip) showTip(event.target.tip, event.clientX + 12, event.clientY); });
    chart.plot.replaceChildren(svg);
    chart.figure.dataset.drawn = "yes";
    return Promise.resolve();
  };
  const signed = (number, digits) => {
    const text = Math.abs(number).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return (/[1-9]/.test(text) ? (number < 0 ? "−" : "+") : "") + text;
  };

  // Maps show differences in points, or values from 0 in another unit.
  const unitOf = (trace) => trace.meta?.unit ?? "points";
  const shown = (trace, number, digits) => (trace.zmin < 0 ? signed(number, digits) : signed(number, digits).replace("+", ""));

  const layoutOf = (chart, width, template) => {
    const { layout, narrow } = partOf(chart);
    return fitted({ ...layout, ...(width < NARROW ? narrow : {}), template: template, width: width, autosize: false });
  };
  // The space below a chart is for a legend in a narrow window; in a wide one, its entries need fewer lines.
  const fitted = (layout) => {
    const legend = layout.meta?.legend;
    if (!legend) return layout;
    const room = layout.width - layout.margin.l - layout.margin.r, columns = Math.max(1, Math.floor(room / legend.entry));
    const lines = legend.total <= room ? 1 : Math.ceil(legend.entries / columns);
    const spare = Math.max(0, legend.height - 16 - legend.line * lines);
    return { ...layout, height: layout.height - spare, margin: { ...layout.margin, b: layout.margin.b - spare } };
  };
  const draw = async (chart, width = chart.plot.clientWidth, template = looks[look], most = Infinity) => {
    chart.width = width;
    if (chart.isMap) return drawMap(chart, width, most);
    // Plotly modifies the layout, so each call gets a copy.
    const layout = structuredClone(layoutOf(chart, width, template));
    layout.height = Math.min(layout.height, most);
    await Plotly.react(chart.plot, partOf(chart).data, layout, config);
    await tighten(chart.plot);
    chart.figure.dataset.drawn = "yes";
  };
  // Takes back the space above a legend that has fewer lines than expected, because its entries are of different widths.
  const tighten = (plot) => {
    const legend = plot.querySelector("g.legend"), above = [...plot.querySelectorAll("[class^=g-x] text")];
    if (!legend || !above.length) return;
    const bottom = Math.max(...above.map((text) => text.getBoundingClientRect().bottom));
    const spare = Math.floor(legend.getBoundingClientRect().top - bottom - 14);
    if (spare < 16) return;
    return Plotly.relayout(plot, { height: plot.layout.height - spare, "margin.b": plot.layout.margin.b - spare });
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
  // On paper, everything is light, and all tables are open.
  const closed = new Set();
  addEventListener("beforeprint", () => {
    root.dataset.look = "light";
    for (const own of document.querySelectorAll("details:not([open])")) { closed.add(own); own.open = true; }
    charts.forEach((chart) => draw(chart, PAPER, looks.light, PAGE));
  });
  addEventListener("afterprint", () => {
    for (const own of closed) own.open = false;
    closed.clear();
    wear();
    drawAll();
  });

  for (const chart of charts) {
    const { figure, spec } = chart;
    figure.querySelector(".save").addEventListener("click", async () => {
      const link = document.createElement("a");
      if (chart.isMap) {
        const svg = mapOf(chart, 1000, Infinity);
        for (const text of svg.querySelectorAll("text")) text.setAttribute("style", "font: 13px sans-serif; fill: #2b3036");
        for (const area of svg.querySelectorAll("path")) area.setAttribute("style", "stroke: #8a8f98; stroke-width: .5");
        link.href = "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(svg));
      } else {
        const layout = { ...layoutOf(chart, 1000, looks.light), paper_bgcolor: "#fff", title: undefined };
        const image = { format: "svg", width: 1000, height: layout.height };
        link.href = await Plotly.toImage({ data: partOf(chart).data, layout: structuredClone(layout) }, image);
      }
      link.download = figure.dataset.name + ".svg";
      link.click();
    });
    const view = figure.querySelector(".view"), leads = figure.querySelectorAll(".lead-of-view");
    if (view) view.addEventListener("change", () => {
      const { update, layout, note } = spec.views[view.selectedIndex], lead = leads[view.selectedIndex];
      for (const [name, values] of Object.entries(update)) spec.main.data.forEach((trace, place) => { trace[name] = values[place] ?? trace[name]; });
      Object.assign(spec.main.layout, layout);
      figure.querySelector(".note-of-view").textContent = note;
      // The first sentence of the section is about the chosen view.
      if (lead) {
        figure.closest("section").querySelector(".lead").replaceChildren(lead.content.cloneNode(true));
        chart.plot.setAttribute("aria-label", lead.content.textContent);
      }
      draw(chart, chart.width);
    });
  }

  // The slider: the figures of the frontier at each stop. The last trace of the chart is its point.
  const slider = document.getElementById("stop");
  if (slider) {
    const stops = read("stops"), moving = charts.find((chart) => chart.figure.dataset.name === "trade");
    const rows = [...document.querySelectorAll("#stop-counts tbody tr")], command = document.getElementById("command");
    const minus = (text) => text.replace("-", "−");
    // A value of γ with few digits that gives the labels of a point.
    const gammaOf = ({ from_gamma: from, to_gamma: to }) => {
      for (let digits = 4; digits < 12; digits++) {
        const middle = ((from + to) / 2).toFixed(digits);
        if (Number(middle) >= from && Number(middle) <= to) return middle;
      }
      return String((from + to) / 2);
    };
    const show = (redraw) => {
      const point = stops.points[Number(slider.value)], all = point.counts.reduce((sum, count) => sum + count, 0);
      const gamma = gammaOf(point), accuracy = point.accuracy.toFixed(4), fidelity = minus(point.fidelity.toFixed(4));
      document.getElementById("gamma").textContent = gamma;
      document.getElementById("accuracy").textContent = accuracy;
      document.getElementById("fidelity").textContent = fidelity;
      command.textContent = command.dataset.command.replace("GAMMA", gamma);
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
      for (const part of [moving.spec.main, moving.spec.all]) if (part) Object.assign(part.data.at(-1), { x: [point.fidelity], y: [point.accuracy] });
      if (redraw) Plotly.restyle(moving.plot, { x: [[point.fidelity]], y: [[point.accuracy]] }, [moving.plot.data.length - 1]);
    };
    slider.addEventListener("input", () => show(moving.figure.dataset.drawn === "yes"));
    show(false);
  }

  // Sortable and searchable tables.
  for (const table of document.querySelectorAll(".table.sortable")) {
    const body = table.querySelector("tbody"), rows = [...body.rows], heads = [...table.querySelectorAll("thead tr:last-child th")];
    // A number is in the attribute if the text is not the whole number.
    const keys = (column) => (row) => {
      const cell = row.cells[column], text = cell.textContent;
      if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
      return cell.matches("td:not(.t)") && /\d/.test(text) ? Number(text.replaceAll(",", "").replace("−", "-")) : text;
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
