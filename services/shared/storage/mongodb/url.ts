import { ConfigError } from "../../settings/env.ts";

interface Rule {
  readonly accepts: (value: string) => boolean;
  readonly must: string;
  readonly why: string;
}

const IN_CODE = "it is set in code";
const MAJORITY = "a write that a failover may take back is no write";
const PRIMARY = "a secondary may be behind";

/** Options that would weaken what the store promises, by their names in lower case. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["w", { accepts: (value) => value === "majority", must: "majority", why: MAJORITY }],
  ["journal", { accepts: (value) => value === "true", must: "true", why: MAJORITY }],
  ["j", { accepts: (value) => value === "true", must: "true", why: MAJORITY }],
  ["safe", { accepts: () => false, must: "absent", why: IN_CODE }],
  ["fsync", { accepts: () => false, must: "absent", why: IN_CODE }],
  ["readpreference", { accepts: (value) => value === "primary", must: "primary", why: PRIMARY }],
  ["readpreferencetags", { accepts: () => false, must: "absent", why: PRIMARY }],
  ["maxstalenessseconds", { accepts: () => false, must: "absent", why: PRIMARY }],
  // A level on every read would replace that of snapshot reads.
  ["readconcernlevel", { accepts: () => false, must: "absent", why: IN_CODE }],
]);

/**
 * Checks the options of a connection string (mongodb:// and mongodb+srv://).
 * @throws ConfigError that names every option that weakens writes or reads, its rule and its value.
 */
export function checkMongoUrl(url: string): void {
  const problems: string[] = [];
  for (const [name, value] of optionsOf(url)) {
    const rule = RULES.get(name.toLowerCase());
    if (rule === undefined || rule.accepts(value)) continue;
    problems.push(`MONGODB_URL: the option ${name} must be ${rule.must}, not "${value}": ${rule.why}`);
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Whether a URL sets an option, however it writes the name. */
export function hasOption(url: string, name: string): boolean {
  return optionsOf(url).some(([each]) => each.toLowerCase() === name.toLowerCase());
}

/** Whether a URL names one server, whatever others belong to it. */
export function isDirect(url: string): boolean {
  return optionsOf(url).some(
    ([name, value]) => name.toLowerCase() === "directconnection" && value === "true",
  );
}

/** Not by URL: a list of hosts is none. */
function optionsOf(url: string): [string, string][] {
  const at = url.indexOf("?");
  return at < 0 ? [] : [...new URLSearchParams(url.slice(at + 1))];
}
