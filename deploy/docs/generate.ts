/**
 * Writes the generated parts of docs/: the settings table of configuration.md from the table of settings that processes
 * read, and the figures of benchmarks.md from what benches recorded. With --check it only compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { describeSettings } from "../../services/shared/settings/settings.ts";
import { readResults, renderBenchmarks } from "./benchmarks.ts";

const DOCS = new URL("../../docs/", import.meta.url);
const isCheck = process.argv.includes("--check");

function settingsTable(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = describeSettings().map(
    ({ name, default: standard, meaning, usedBy }) =>
      `| \`${name}\` | ${standard === "" ? "" : `\`${cell(standard)}\``} | ${cell(meaning)} | ${usedBy.join(", ")} |`,
  );
  return ["| variable | default | meaning | read by |", "|---|---|---|---|", ...rows].join("\n");
}

/** Puts the text between the markers `<!-- part -->` and `<!-- /part -->` of a page. */
function replacePart(name: string, { part, text }: { readonly part: string; readonly text: string }): void {
  const [start, end] = [`<!-- ${part} -->`, `<!-- /${part} -->`];
  const page = readFileSync(new URL(name, DOCS), "utf8");
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`docs/${name} lacks ${start} … ${end}.`);
  const wanted = `${before}${start}\n${text}\n${end}${after}`;
  if (wanted === page) return;
  if (isCheck) {
    console.error(`docs/${name} is not what its source makes of it (${part}): run npm run generate.`);
    process.exitCode = 1;
  } else writeFileSync(new URL(name, DOCS), wanted);
}

replacePart("configuration.md", { part: "settings", text: settingsTable() });
const results = readResults(new URL("../bench/results/", DOCS));
replacePart("benchmarks.md", { part: "results", text: renderBenchmarks(results) });
