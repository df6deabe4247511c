/** The library of charts, loaded when the first one is drawn, and what all charts have in common. */
/** @typedef {import("uplot")} UPlot */
/** @typedef {import("uplot").Options} Options */
import { h, setText } from "../dom.js";

const HEIGHT = 220;
/** @type {Promise<typeof import("uplot")> | undefined} */
let loading;

/** @returns {Promise<typeof import("uplot")>} */
function loadLibrary() {
  loading ??= import(new URL("../uplot.js", import.meta.url).href).then((module) => module.default);
  return loading;
}

/**
 * A colour of the style sheet as canvases take it: resolved for the scheme of the moment.
 * @param {string} name
 */
export function colour(name) {
  const probe = document.body.appendChild(h("span", { hidden: true }));
  probe.style.color = `var(--${name})`;
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

/** What a chart is drawn from; `key` is another where it has to be built anew. */
/** @typedef {{
 *   readonly key: string;
 *   readonly data: import("uplot").AlignedData;
 *   readonly label: string;
 *   readonly options: (library: typeof import("uplot")) => Partial<Options>;
 *   readonly readout: (index: number) => string;
 * }} Drawing */

/** A place for a chart: it follows the width of the page and the colours of the system. */
export function plotPart() {
  const canvas = h("div", { class: "plot", role: "img" });
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const node = h("figure", { class: "chart" }, canvas, readout);
  /** @type {Drawing | undefined} */
  let drawing;
  /** @type {UPlot | undefined} */
  let plot;
  let drawnKey = "";

  const rest = () => {
    const points = drawing?.data[0].length ?? 0;
    setText(readout, points === 0 ? "" : (drawing?.readout(points - 1) ?? ""));
  };
  const destroy = () => {
    plot?.destroy();
    plot = undefined;
  };
  const draw = async () => {
    const library = await loadLibrary();
    if (drawing === undefined || canvas.clientWidth === 0) return;
    const { key, data, options } = drawing;
    if (plot !== undefined && drawnKey === key) plot.setData(data);
    else {
      destroy();
      drawnKey = key;
      const common = {
        ...{ width: canvas.clientWidth, height: HEIGHT, legend: { show: false } },
        cursor: { y: false, drag: { x: false, y: false } },
        hooks: {
          setCursor: [
            (/** @type {UPlot} */ { cursor: { idx } }) => {
              if (idx === null || idx === undefined) rest();
              else setText(readout, drawing?.readout(idx) ?? "");
            },
          ],
        },
      };
      const { hooks, ...own } = options(library);
      const whole = { ...common, ...own, hooks: { ...hooks, ...common.hooks } };
      plot = new library(/** @type {Options} */ (whole), data, canvas);
    }
    rest();
  };
  const resized = new ResizeObserver(() => {
    if (plot === undefined) void draw();
    else if (canvas.clientWidth > 0 && canvas.clientWidth !== plot.width)
      plot.setSize({ width: canvas.clientWidth, height: HEIGHT });
  });
  resized.observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    destroy();
    void draw();
  });
  return {
    node,
    /** @param {Drawing} next */
    show(next) {
      drawing = next;
      canvas.setAttribute("aria-label", next.label);
      void draw();
    },
  };
}

/** @returns {import("uplot").Axis} */
export function axisStyle() {
  return {
    stroke: colour("muted"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: colour("line"), width: 1 },
    ticks: { stroke: colour("line"), width: 1 },
  };
}

/** Times in UTC, as everywhere here, as long as their distance asks for. @returns {import("uplot").Axis} */
export function timeAxis() {
  const values = (/** @type {UPlot} */ _plot, /** @type {number[]} */ splits) => {
    const step = (splits[1] ?? 0) - (splits[0] ?? 0);
    const [from, to] = step < 60 ? [11, 19] : step < 86_400 ? [11, 16] : [5, 10];
    return splits.map((second) => {
      const text = new Date(second * 1_000).toISOString();
      // The first moment of a day says which day it is.
      return step < 86_400 && second % 86_400 === 0 ? text.slice(5, 10) : text.slice(from, to);
    });
  };
  return { ...axisStyle(), values, space: 70 };
}

/**
 * @param {(value: number) => string} format
 * @returns {import("uplot").Axis}
 */
export function valueAxis(format) {
  // A line that hardly moves has ticks that read the same: each text once.
  const values = (/** @type {UPlot} */ _plot, /** @type {number[]} */ splits) => {
    const texts = splits.map(format);
    return texts.map((text, at) => (text === texts[at - 1] ? "" : text));
  };
  return { ...axisStyle(), size: 72, values };
}
