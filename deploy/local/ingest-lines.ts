import { EXIT_CONFIG } from "../../services/shared/process/process.ts";
import type { ProcessExit } from "./supervisor.ts";

interface Entry {
  readonly level?: string;
  readonly msg?: string;
  readonly chainId?: number;
  /** Written for people: progress, the head, refusals of endpoints. */
  readonly screen?: boolean;
  /** Where a chain is: what the live line shows. */
  readonly progress?: boolean;
  readonly host?: string;
  readonly reason?: string;
  /** From the check of endpoints before an ingest starts. */
  readonly isPreflight?: boolean;
  readonly err?: { readonly message?: string };
  /** Of a wrong configuration, each a sentence. */
  readonly problems?: readonly string[];
}

const LOUD: ReadonlySet<string> = new Set(["warn", "error", "fatal"]);

/** An ingest's log line as a person wants to read it; undefined for what only machines need. */
export function readableLine(
  line: string,
  { hidesProgress = false }: { readonly hidesProgress?: boolean } = {},
): string | undefined {
  let entry: Entry;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  // npm start has tried the same endpoints and reports them itself.
  if (entry.isPreflight === true) return undefined;
  if (hidesProgress && entry.progress === true) return undefined;
  const { level = "", msg = "", chainId, screen } = entry;
  const isLoud = LOUD.has(level);
  if (screen === true) return isLoud ? `${level}: ${msg}` : msg;
  if (!isLoud) return undefined;
  const chain = chainId === undefined ? "" : `chain ${chainId}: `;
  return `${level}: ${chain}${msg}${detailOf(entry)}`;
}

function detailOf({ msg = "", host, reason, err, problems }: Entry): string {
  const known = [host, reason, err?.message, problems?.join(" ")];
  const details = known.filter((detail) => detail !== undefined && !msg.includes(detail));
  return details.length === 0 ? "" : ` (${details.join(": ")})`;
}

/** What a person has to know when an ingest ends for good: with a wrong configuration it is not started again. */
export function exitSentence(
  name: string,
  { code, restartInMs }: Pick<ProcessExit, "code" | "restartInMs">,
): string | undefined {
  if (code !== EXIT_CONFIG || restartInMs !== null) return undefined;
  return `error: the ${name} ingest has ended, because its configuration is wrong (see above). What it indexes stays as it is until npm start runs again; /readyz shows it.`;
}
