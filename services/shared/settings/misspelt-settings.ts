import { CHAIN_SETTING_NAMES, listChainSettings } from "./chain-settings.ts";
import { ConfigError, type Settings } from "./env.ts";
import { type Environment, SETTINGS } from "./settings.ts";

/** Settings of one chain each: any other name with the prefix is an unknown chain. */
const CHAIN_PREFIXES = CHAIN_SETTING_NAMES.map((name) => `${name}_`);

/**
 * Common names: a variable that is only similar may belong to another program (HTTPS_PORT, REDIS_URI). It causes a
 * warning; other misspelt names end the start (78) like a wrong value, since the intended setting is not in force.
 */
const COMMON = new Set([
  "ADMIN_HOST",
  "ADMIN_PORT",
  "BIND_HOST",
  "DATA_DIR",
  "GRPC_PORT",
  "HTTP_PORT",
  "LOG_FORMAT",
  "LOG_LEVEL",
  "MONGODB_URL",
  "PUBLIC_URL",
  "REDIS_URL",
]);
/** OpenTelemetry has many more variables than this product reads. */
const OTHERS = /^OTEL_/;
/** Kubernetes sets <SERVICE>_PORT to such an address for each service: SOLANA_PORT is two letters short of SOLANA_PORTAL. */
const SERVICE_LINK = /^tcp:\/\//;
const LONG_NAME = 9;

export interface MisspeltSettings {
  /** The intended setting is certainly not in force. */
  readonly problems: readonly string[];
  /** They may belong to another program. */
  readonly warnings: readonly string[];
}

/** Variables that no process reads and whose name is close to a setting that is not set. */
export function findMisspeltSettings(env: Environment): MisspeltSettings {
  const problems: string[] = [];
  const warnings: string[] = [];
  const ofChains = new Set(CHAIN_SETTING_NAMES.flatMap((setting) => listChainSettings(env, setting)));
  for (const [name, value] of Object.entries(env)) {
    if (
      value === undefined ||
      value.trim() === "" ||
      isKnown(name) ||
      ofChains.has(name) ||
      OTHERS.test(name) ||
      SERVICE_LINK.test(value)
    )
      continue;
    const meant = nearestSetting(name, env);
    const prefix = CHAIN_PREFIXES.find((each) => name.startsWith(each));
    if (prefix !== undefined) problems.push(describeUnknownChain(name, { prefix, meant }));
    else if (meant !== undefined)
      (COMMON.has(meant) ? warnings : problems).push(
        `Unknown setting ${name}: did you mean ${meant}? ${meant} is not set.`,
      );
  }
  return { problems, warnings };
}

/** Secrets may come from a file: <name>_FILE. */
function isKnown(name: string): boolean {
  const secret = (SETTINGS as Settings)[name.replace(/_FILE$/, "")];
  return name in SETTINGS || secret?.secret === true;
}

/** Throws ConfigError for misspelt settings; names that may belong to another program pass. */
export function rejectMisspeltSettings(env: Environment): void {
  const { problems } = findMisspeltSettings(env);
  if (problems.length > 0) throw new ConfigError(problems);
}

function describeUnknownChain(
  name: string,
  { prefix, meant }: { readonly prefix: string; readonly meant: string | undefined },
): string {
  const known = Object.keys(SETTINGS).filter((each) => each.startsWith(prefix));
  const isNumber = /^\d+$/.test(name.slice(prefix.length));
  const unknown = isNumber
    ? `Unknown setting ${name}: chain ${name.slice(prefix.length)} is not known`
    : `Unknown setting ${name}`;
  return `${unknown}; ${meant === undefined ? `there is ${known.join(", ")}` : `did you mean ${meant}?`}`;
}

/** The unset setting with the nearest name within one typo (two for long names). */
function nearestSetting(name: string, env: Environment): string | undefined {
  const typed = name.toUpperCase();
  let nearest: { readonly setting: string; readonly distance: number } | undefined;
  for (const setting of Object.keys(SETTINGS)) {
    const limit = setting.length < LONG_NAME ? 1 : 2;
    if (Math.abs(setting.length - typed.length) > limit || env[setting]?.trim()) continue;
    const distance = editDistance(typed, setting);
    if (distance <= limit && distance < (nearest?.distance ?? Number.POSITIVE_INFINITY))
      nearest = { setting, distance };
  }
  return nearest?.setting;
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let best = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (isSame ? 0 : 1),
      );
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) best = Math.min(best, (before[j - 2] as number) + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length] as number;
}
