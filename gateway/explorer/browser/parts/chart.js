/** Bars over names, and lines or bars over time. */
import { formatTime } from "../format.js";
import { axisStyle, colour, plotPart, timeAxis, valueAxis } from "./plot.js";

/** @typedef {(value: number) => string} Format */

export function barsPart() {
  const { node, show } = plotPart();
  return {
    node,
    /** @param {{ readonly title: string; readonly labels: readonly string[]; readonly values: readonly (number | null)[]; readonly format: Format }} chart */
    show({ title, labels, values, format }) {
      const places = labels.map((_, at) => at);
      const told = labels.map((name, at) => `${name}: ${textOf(values[at], format)}`);
      show({
        key: `${title}|${labels.join()}`,
        data: [places, [...values]],
        label: `${title}. ${told.join("; ")}`,
        readout: (at) => `${title.split(" over ")[0]}, ${told[at] ?? ""}`,
        options: ({ paths }) => ({
          scales: {
            x: { time: false, range: [-0.6, labels.length - 0.4] },
            y: { range: fromZero },
          },
          axes: [
            {
              ...axisStyle(),
              splits: () => places,
              values: (plot) => labels.map((label) => (plot.width < 480 ? initials(label) : label)),
              grid: { show: false },
            },
            valueAxis(format),
          ],
          series: [
            {},
            {
              fill: colour("accent"),
              stroke: colour("accent"),
              paths: paths.bars?.({ size: [0.55, 64] }),
              points: { show: false },
            },
          ],
        }),
      });
    },
  };
}

export function seriesPart() {
  const { node, show } = plotPart();
  return {
    node,
    /** @param {{ readonly title: string; readonly times: readonly number[]; readonly values: readonly (number | null)[]; readonly format: Format; readonly isBars?: boolean }} chart */
    show({ title, times, values, format, isBars = false }) {
      const known = values.filter((value) => value !== null);
      const span =
        known.length === 0
          ? "nothing known yet"
          : `from ${format(Math.min(...known))} to ${format(Math.max(...known))}`;
      show({
        key: title,
        data: [[...times], [...values]],
        label: `${title}: ${times.length} points, ${span}`,
        readout: (at) => `${title}: ${textOf(values[at], format)}, ${formatTime(times[at] ?? 0)}`,
        options: ({ paths }) => ({
          scales: { x: { range: isBars ? withEnds : minute }, y: { range: isBars ? fromZero : around } },
          axes: [timeAxis(), valueAxis(format)],
          series: [
            {},
            isBars
              ? {
                  fill: colour("accent"),
                  stroke: colour("accent"),
                  paths: paths.bars?.({ size: [0.6, 40] }),
                  points: { show: false },
                }
              : { stroke: colour("accent"), width: 2, points: { show: times.length < 30 } },
          ],
        }),
      });
    },
  };
}

/** @type {(plot: import("uplot"), min: number, max: number) => [number, number]} */
const fromZero = (_plot, min, max) => [Math.min(0, min ?? 0), max > 0 ? max * 1.08 : 1];

/** "1 month" as "1 mo": six of them fit a telephone. @param {string} label */
const initials = (label) =>
  label.replace(/(minute|month|[a-z])[a-z]*$/, (word) => word.slice(0, /^m/.test(word) ? 2 : 1));

/** Half a bar of room at both ends. @type {(plot: import("uplot")) => [number, number]} */
const withEnds = ({ data: [times] }) => {
  const [first, last] = [times[0] ?? 0, times.at(-1) ?? 0];
  const room = times.length > 1 ? (last - first) / (times.length - 1) / 2 : 1_800;
  return [first - room, last + room];
};

/**
 * A line that has just begun has a minute of room; of a single point the library would show years.
 * @type {(plot: import("uplot")) => [number, number]}
 */
const minute = ({ data: [times] }) => {
  const last = times.at(-1) ?? 0;
  return [Math.min(times[0] ?? last, last - 60), last];
};

/** A line that does not move stands in the middle. @type {(plot: import("uplot"), min: number, max: number) => [number, number]} */
const around = (_plot, min, max) => {
  const room = max > min ? (max - min) * 0.1 : Math.abs(max ?? 0) * 0.01 || 1;
  return [(min ?? 0) - room, (max ?? 0) + room];
};

/**
 * @param {number | null | undefined} value
 * @param {Format} format
 */
function textOf(value, format) {
  return typeof value === "number" ? format(value) : "not known";
}
