import { formatAmount, formatBytes } from "../doctor/format.ts";
import type { StoreReport } from "./examine.ts";
import type { Finding } from "./finding.ts";

/** Tables that are told of a store in text; --json has them all. */
const TOLD_TABLES = 5;

/** For people. */
export function report(stores: readonly StoreReport[]): string {
  return stores.map((store) => `${describe(store).join("\n")}\n`).join("\n");
}

function describe(store: StoreReport): string[] {
  const { chains, compared, findings, leaders, pages, place, schema, service, storedBytes, tables } = store;
  const lines = [`${service}  ${place}  ${formatBytes(storedBytes)}`];
  const say = (name: string, text: string) => lines.push(`  ${name.padEnd(12)} ${text}`);
  const other = schema.filter(({ state }) => state !== "same");
  const isSame = other.length === 0;
  say(
    "schema",
    isSame ? `${schema.length} collections, as this version has them` : other.map(toText).join(", "),
  );
  if (pages !== "unread") say("pages", pages);
  for (const { chain, block, fromBlock, hash, time } of chains)
    say(`chain ${chain}`, `${fromBlock} to ${block}, ${time}, ${hash}`);
  for (const { holder, lease } of leaders) say("lease", `${lease}: ${holder ?? "nobody"}`);
  for (const { name, bytes, indexBytes, rows } of (tables ?? []).slice(0, TOLD_TABLES))
    say(
      "table",
      `${name}: ${rows === null ? "" : `${formatAmount(rows)} rows, `}${formatBytes(bytes)}, indexes ${formatBytes(indexBytes)}`,
    );
  const counts = Object.entries(compared).map(([check, count]) => `${check} ${formatAmount(count)}`);
  say("compared", counts.join(", "));
  for (const finding of findings) lines.push(...describeFinding(finding));
  return lines;
}

function toText({ name, state }: StoreReport["schema"][number]): string {
  return `${name} ${state}`;
}

function describeFinding({ chain, check, level, todo, what }: Finding): string[] {
  const where = chain === null ? check : `chain ${chain}, ${check}`;
  return [`  ${level === "fault" ? "FAULT" : "note "} ${where}: ${what}`, `        ${todo}`];
}
