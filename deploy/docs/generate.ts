/** Writes the settings table of docs/configuration.md from the table of settings that processes read; with --check it only compares. */
import { readFileSync, writeFileSync } from "node:fs";
import { describeSettings } from "../../services/shared/settings/settings.ts";

const PAGE = new URL("../../docs/configuration.md", import.meta.url);
const [START, END] = ["<!-- settings -->", "<!-- /settings -->"];

function settingsTable(): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = describeSettings().map(
    ({ name, default: standard, meaning, usedBy }) =>
      `| \`${name}\` | ${standard === "" ? "" : `\`${cell(standard)}\``} | ${cell(meaning)} | ${usedBy.join(", ")} |`,
  );
  return ["| variable | default | meaning | read by |", "|---|---|---|---|", ...rows].join("\n");
}

const page = readFileSync(PAGE, "utf8");
const [before, rest] = page.split(START);
const after = rest?.split(END)[1];
if (before === undefined || after === undefined)
  throw new Error(`docs/configuration.md lacks ${START} … ${END}.`);
const wanted = `${before}${START}\n${settingsTable()}\n${END}${after}`;
if (!process.argv.includes("--check")) writeFileSync(PAGE, wanted);
else if (wanted !== page) {
  console.error(
    "The settings in docs/configuration.md are not those of services/shared/settings/settings.ts: run npm run generate.",
  );
  process.exitCode = 1;
}
