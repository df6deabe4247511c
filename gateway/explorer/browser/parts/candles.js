/** Prices as candles with their volume below, and what else they tell in USD as lines: a pool's TVL. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Row, Table } from "../types.ts" */
import { h } from "../dom.js";
import { formatCell, formatTime, formatUsd } from "../format.js";
import { CANDLE_PRICES, linesOf, titleOf } from "../model.js";
import { seriesPart } from "./chart.js";
import { colour, plotPart, timeAxis, valueAxis } from "./plot.js";
import { rowsPart } from "./rows.js";

/**
 * @param {Table} table
 * @returns {Part}
 */
export function candlesPart(table) {
  const { node, show } = plotPart();
  const places = ["unixTime", ...CANDLE_PRICES, "volume"].map((name) =>
    table.columns.findIndex((column) => column.name === name),
  );
  const rowsTable = rowsPart({ table, columns: table.columns, caption: "Candles" });
  const lines = linesOf(table).map((column) => ({ column, chart: seriesPart() }));
  const whole = h(
    "div",
    {},
    node,
    ...lines.map(({ chart }) => chart.node),
    h("details", {}, h("summary", {}, "As a table"), rowsTable.node),
  );
  return {
    node: whole,
    /** @param {readonly Row[]} rows */
    update(rows) {
      const sorted = [...rows].sort((a, b) => Number(a[places[0] ?? 0]) - Number(b[places[0] ?? 0]));
      const columns = places.map((at) =>
        sorted.map((row) => (typeof row[at] === "number" ? Number(row[at]) : null)),
      );
      const [times = [], opens = [], highs = [], lows = [], closes = [], volumes = []] = columns;
      const last = closes.at(-1);
      const low = Math.min(...lows.map((value) => value ?? Number.POSITIVE_INFINITY));
      const high = Math.max(...highs.map((value) => value ?? Number.NEGATIVE_INFINITY));
      rowsTable.update(sorted.toReversed().slice(0, 100));
      for (const { column, chart } of lines) {
        const at = table.columns.indexOf(column);
        const values = sorted.map((row) => (typeof row[at] === "number" ? Number(row[at]) : null));
        // Nothing to draw where none of them is known.
        chart.node.hidden = values.every((value) => value === null);
        chart.show({
          title: titleOf(column.name),
          times: times.map(Number),
          values,
          format: (value) => formatCell(value, column, 0),
        });
      }
      show({
        key: "candles",
        data: /** @type {import("uplot").AlignedData} */ ([times, opens, highs, lows, closes, volumes]),
        label:
          sorted.length === 0
            ? "No candles in this range"
            : `Price: ${sorted.length} candles from ${formatUsd(low)} to ${formatUsd(high)}, the last closed at ${formatUsd(Number(last))}`,
        readout: (at) => readout(at, { times, opens, highs, lows, closes, volumes }),
        options: (library) => ({
          scales: {
            y: { range: (_plot, min, max) => padded(min, max) },
            // The volume takes the lowest quarter.
            volume: { range: (_plot, _min, max) => [0, max > 0 ? max * 4 : 1] },
          },
          axes: [timeAxis(), valueAxis(formatUsd)],
          series: [
            {},
            ...CANDLE_PRICES.map(() => ({ paths: () => null, points: { show: false } })),
            {
              scale: "volume",
              fill: colour("line"),
              stroke: colour("line"),
              paths: library.paths.bars?.({ size: [0.7, 24] }),
              points: { show: false },
            },
          ],
          hooks: { draw: [drawCandles] },
        }),
      });
    },
  };

  /**
   * @param {number} at
   * @param {Record<"times" | "opens" | "highs" | "lows" | "closes" | "volumes", readonly (number | null)[]>} candles
   */
  function readout(at, { times, opens, highs, lows, closes, volumes }) {
    const price = (/** @type {number | null | undefined} */ value) =>
      formatCell(value ?? null, { name: "", type: "Float64", unit: "USD" }, 0);
    const prices = `open ${price(opens[at])}, high ${price(highs[at])}, low ${price(lows[at])}, close ${price(closes[at])}`;
    return `${formatTime(times[at] ?? 0)}: ${prices}, volume ${price(volumes[at])}`;
  }
}

/**
 * @param {number} min
 * @param {number} max
 * @returns {[number, number]}
 */
function padded(min, max) {
  const room = max > min ? (max - min) * 0.08 : Math.abs(max) * 0.05 || 1;
  // Below the candles stands the volume.
  return [min - 3 * room, max + room];
}

/** @param {import("uplot")} plot */
function drawCandles(plot) {
  const { ctx, bbox } = plot;
  const [times, opens, highs, lows, closes] = /** @type {(number | null)[][]} */ (plot.data);
  if (times === undefined || times.length === 0) return;
  const at = (/** @type {number} */ value, /** @type {string} */ scale) => plot.valToPos(value, scale, true);
  const first = Number(times[0]);
  const step = times.length > 1 ? (at(Number(times.at(-1)), "x") - at(first, "x")) / (times.length - 1) : 12;
  const width = Math.max(1, Math.min(16 * devicePixelRatio, Math.round(step * 0.7)));
  const colours = { up: colour("up"), down: colour("down") };
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const [index, time] of times.entries()) {
    const [open, high, low, close] = [opens, highs, lows, closes].map((values) => values?.[index]);
    if (
      typeof open !== "number" ||
      typeof close !== "number" ||
      typeof high !== "number" ||
      typeof low !== "number"
    )
      continue;
    const isUp = close >= open;
    ctx.fillStyle = ctx.strokeStyle = colours[isUp ? "up" : "down"];
    const x = Math.round(at(Number(time), "x"));
    ctx.fillRect(
      x - Math.max(0.5, devicePixelRatio / 2),
      at(high, "y"),
      Math.max(1, devicePixelRatio),
      at(low, "y") - at(high, "y"),
    );
    const top = at(Math.max(open, close), "y");
    ctx.fillRect(x - width / 2, top, width, Math.max(1, at(Math.min(open, close), "y") - top));
  }
  ctx.restore();
}
