import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { BenchResult, Figure } from "../../services/shared/testkit/bench-record.ts";

/** The results of all benches that were recorded, by name. */
export function readResults(folder: URL): BenchResult[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")) as BenchResult);
}

/** One table for each bench: figure, goal, and whether it was reached; above it command, commit, date and machine. */
export function renderBenchmarks(results: readonly BenchResult[]): string {
  return results.map(renderResult).join("\n\n");
}

function renderResult(result: BenchResult): string {
  const { bench, command, commit, date, machine, loadBefore, referenceMs, figures } = result;
  const load = loadBefore === null ? "" : `, load ${loadBefore} before it`;
  const speed = referenceMs === undefined ? "" : `, reference ${referenceMs} ms`;
  return [
    `### ${bench}`,
    "",
    `\`${command}\` at ${commit}, ${date}, ${machine}${load}${speed}.`,
    "",
    "| figure | measured | goal | |",
    "|---|---|---|---|",
    ...figures.map(renderFigure),
  ].join("\n");
}

function renderFigure(figure: Figure): string {
  const { name, value, unit } = figure;
  const written = `${value.toLocaleString("en", { maximumFractionDigits: 3 })} ${unit}`.trim();
  return `| ${name} | ${written} | ${describeGoal(figure)} | ${isReached(figure) ? "" : "**not reached**"} |`;
}

function describeGoal({ goal }: Figure): string {
  if (goal === undefined) return "";
  return "atLeast" in goal
    ? `≥ ${goal.atLeast.toLocaleString("en")}`
    : `≤ ${goal.atMost.toLocaleString("en")}`;
}

function isReached({ goal, value }: Figure): boolean {
  if (goal === undefined) return true;
  return "atLeast" in goal ? value >= goal.atLeast : value <= goal.atMost;
}
