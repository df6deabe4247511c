import { rejectMisspeltSettings } from "../../services/shared/settings/misspelt-settings.ts";
import { readRpcUrls, readSolanaStream, readSolanaUrls } from "../../services/shared/settings/rpc-urls.ts";
import {
  ConfigError,
  collectConfigErrors,
  type Environment,
  readSettings,
  SETTINGS,
  type SettingName,
} from "../../services/shared/settings/settings.ts";

/** Settings of single processes that npm start decides for its own ones: what they say of them has no effect. */
const DECIDED_HERE = [
  "EVM_DEX_URL",
  "EVM_DEX_GRPC",
  "LENDING_URL",
  "LENDING_GRPC",
  "SOLANA_URL",
  "SOLANA_GRPC",
  "GATEWAY_WORKERS",
] as const;
/** In place of the local chain's, which has none yet. */
const SOME_RPC = "http://127.0.0.1:8545";

export function isLocal(given: Environment): boolean {
  return !given.EVM_RPC_8453?.trim() && !given.EVM_RPC_1?.trim();
}

/**
 * Reads every setting that npm start or one of its parts will read, before any of them starts. `readParts` reads what
 * settings mean together: the parts' own readers. Throws one ConfigError that names all that is wrong.
 */
export function readAllSettings(
  given: Environment,
  readParts: readonly ((env: Environment) => unknown)[],
): ReturnType<typeof readSettings<SettingName>> {
  const names = (Object.keys(SETTINGS) as SettingName[]).filter(
    (name) => !(DECIDED_HERE as readonly string[]).includes(name),
  );
  const read = Object.fromEntries(names.map((name) => [name, given[name]]));
  const env = { ...read, ...(isLocal(given) && { EVM_RPC_8453: SOME_RPC }) };
  const [settings] = collectConfigErrors(
    () => readSettings(given, names),
    () => rejectMisspeltSettings(given),
    () => readRpcUrls(given),
    () => readSolanaUrls(given),
    () => readSolanaStream(given),
    ...readParts.map((readPart) => () => readPart(env)),
  );
  return settings as ReturnType<typeof readSettings<SettingName>>;
}

/** Runs checks of the world outside at the same time. Throws one ConfigError with the problems of all of them. */
export async function checkTogether(checks: readonly Promise<unknown>[]): Promise<void> {
  const problems: string[] = [];
  for (const result of await Promise.allSettled(checks)) {
    if (result.status === "fulfilled") continue;
    if (!(result.reason instanceof ConfigError)) throw result.reason;
    problems.push(...result.reason.problems);
  }
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
}
