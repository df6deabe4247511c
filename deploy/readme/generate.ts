/** Writes the settings table of README.md from the table of settings that processes read; with --check it only compares. */
import { readFileSync, writeFileSync } from "node:fs";
import { describeSettings } from "../../services/shared/host/config.ts";

const README = new URL("../../README.md", import.meta.url);
const [START, END] = ["<!-- settings -->", "<!-- /settings -->"];

function settingsTable(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = describeSettings().map(
    ({ name, default: standard, meaning, usedBy }) =>
      `| \`${name}\` | ${standard === "" ? "" : `\`${cell(standard)}\``} | ${cell(meaning)} | ${usedBy.join(", ")} |`,
  );
  return ["| variable | default | meaning | read by |", "|---|---|---|---|", ...rows].join("\n");
}

const readme = readFileSync(README, "utf8");
const [before, rest] = readme.split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined) throw new Error(`README.md lacks ${START} … ${END}.`);
const wanted = `${before}${START}\n${settingsTable()}\n${END}${after}`;
if (!process.argv.includes("--check")) writeFileSync(README, wanted);
else if (wanted !== readme) {
  console.error(
    "The settings in README.md are not those of services/shared/host/config.ts: run npm run generate.",
  );
  process.exitCode = 1;
}
