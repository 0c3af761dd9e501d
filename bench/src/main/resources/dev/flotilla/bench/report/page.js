// Draws the plots of the page with uPlot, anew when the width, the colours or the medium change.
"use strict";
(() => {
  const HEIGHT = 320;
  const COLOURS = ["--one", "--two", "--three", "--four"];
  const plots = JSON.parse(document.getElementById("plots").textContent);
  const places = [...document.querySelectorAll(".plot")];
  let charts = [];

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // uPlot wants one list of x for all series, rising, each once.
  function aligned(plot) {
    const xs = [...new Set(plot.series.flatMap((one) => one.x))].sort((a, b) => a - b);
    const place = new Map(xs.map((x, index) => [x, index]));
    const columns = plot.series.map((one) => {
      const column = new Array(xs.length).fill(null);
      one.x.forEach((x, index) => {
        column[place.get(x)] = one.y[index];
      });
      return column;
    });
    return [xs, ...columns];
  }

  function scale(axis) {
    if (axis.log) {
      return { time: false, distr: 3, log: 2 };
    }
    return { time: false, range: (u, least, most) => [0, most > 0 ? most * 1.08 : 1] };
  }

  function axis(one, size) {
    return {
      label: one.label,
      size,
      stroke: colour("--dim"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 },
      ...(one.log ? { filter: (u, splits) => splits, values: (u, splits) => splits.map(String) } : {}),
    };
  }

  // Paths run in the order of their points, which uPlot's own lines, from left to right, can't.
  function paths(u, plot) {
    const pen = u.ctx;
    const ratio = window.devicePixelRatio || 1;
    pen.save();
    pen.font = `${12 * ratio}px system-ui, sans-serif`;
    plot.series.forEach((one, index) => {
      if (!one.path || !u.series[index + 1].show) {
        return;
      }
      const at = one.x.map((x, i) => [u.valToPos(x, "x", true), u.valToPos(one.y[i], "y", true)]);
      pen.strokeStyle = pen.fillStyle = colour(COLOURS[index % COLOURS.length]);
      pen.lineWidth = 2 * ratio;
      pen.beginPath();
      at.forEach(([x, y], i) => (i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
      pen.stroke();
      at.forEach(([x, y], i) => {
        pen.beginPath();
        pen.arc(x, y, 4 * ratio, 0, 2 * Math.PI);
        pen.fill();
        label(u, one.labels[i], x, y);
      });
    });
    pen.strokeStyle = pen.fillStyle = colour("--text");
    plot.marks.forEach((mark) => {
      const x = u.valToPos(mark.x, "x", true);
      const y = u.valToPos(mark.y, "y", true);
      pen.lineWidth = 1.5 * ratio;
      pen.beginPath();
      pen.arc(x, y, 9 * ratio, 0, 2 * Math.PI);
      pen.stroke();
      pen.textAlign = "left";
      pen.fillText(mark.words, x + 8 * ratio, y + 20 * ratio);
    });
    pen.restore();
  }

  // Above its point, to the left where there is room: the lines of most plots rise to the right.
  function label(u, words, x, y) {
    const ratio = window.devicePixelRatio || 1;
    const left = x - u.ctx.measureText(words).width - 9 * ratio > u.bbox.left;
    u.ctx.textAlign = left ? "right" : "left";
    u.ctx.fillText(words, x + (left ? -7 : 7) * ratio, y - 7 * ratio);
  }

  function draw(place) {
    const plot = plots[Number(place.dataset.plot)];
    place.replaceChildren();
    const series = plot.series.map((one, index) => ({
      label: one.name,
      stroke: colour(COLOURS[index % COLOURS.length]),
      width: 2,
      spanGaps: true,
      ...(one.path ? { paths: () => null, points: { show: false } } : {}),
    }));
    const chart = new uPlot(
      {
        width: Math.max(place.clientWidth, 200),
        height: HEIGHT,
        scales: { x: scale(plot.x), y: scale(plot.y) },
        axes: [axis(plot.x, 46), axis(plot.y, 62)],
        series: [{ label: plot.x.label }, ...series],
        hooks: { draw: [(u) => paths(u, plot)] },
      },
      aligned(plot),
      place,
    );
    chart.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
    return chart;
  }

  function drawAll() {
    charts.forEach((chart) => chart.destroy());
    charts = places.map(draw);
    document.documentElement.dataset.drawn = String(charts.length);
  }

  // Arrows go from value to value, Home and End to the ends.
  function step(event, index) {
    const chart = charts[index];
    const last = chart.data[0].length - 1;
    const now = chart.cursor.idx ?? -1;
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: last }[event.key];
    if (next === undefined) {
      return;
    }
    event.preventDefault();
    const to = Math.min(Math.max(next, 0), last);
    chart.setCursor({ left: chart.valToPos(chart.data[0][to], "x"), top: HEIGHT / 3 });
  }

  places.forEach((place, index) => place.addEventListener("keydown", (event) => step(event, index)));
  let width = 0;
  new ResizeObserver(() => {
    if (document.body.clientWidth !== width) {
      width = document.body.clientWidth;
      drawAll();
    }
  }).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // Paper is light whatever the screen is.
  matchMedia("print").addEventListener("change", drawAll);
})();
