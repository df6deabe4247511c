import { ServiceError } from "../errors.ts";
import type { ChainReading } from "../grpc/types.ts";
import { formatSeconds } from "./progress-line.ts";
import type { ObservedIngest } from "./status-watcher.ts";

/** Bounds of Retry-After while a first read is in progress. */
const MIN_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 60;

/** An ingest reports once a second as soon as it runs: one that has not by then has ended, of its configuration perhaps. */
const FIRST_REPORT_MS = 60_000;

/** The variable that names a chain's endpoints; Solana has no chain id of its own. */
export function sourceSetting(chainId: number): string {
  return chainId === 0 ? "SOLANA_RPC" : `EVM_RPC_${chainId}`;
}

/**
 * The state of a chain's tables, from the store: whether it holds a block, and the ingest's latest status row.
 * `isExpected`: this process's environment names a source (one machine), so that a missing row means an ingest that is
 * about to start.
 */
export function deriveChainReading(options: {
  readonly hasData: boolean;
  readonly seen: ObservedIngest | undefined;
  readonly isExpected: boolean;
  /** How long this process has waited for a first report. */
  readonly waitedMs?: number;
  readonly chainId: number;
}): ChainReading {
  const { hasData, seen, isExpected, waitedMs = 0, chainId } = options;
  const noHistory = { historyFrom: null, historySince: null, historyEtaSeconds: null };
  const nothing = { share: null, etaSeconds: null, why: null, since: null, ...noHistory };
  if (seen === undefined) {
    if (hasData) return { ...nothing, state: "serving" };
    if (isExpected && waitedMs > FIRST_REPORT_MS)
      return { ...nothing, state: "failing", why: "No ingest has reported: its own log says why it ended." };
    if (isExpected) return { ...nothing, state: "first_read", why: "The ingest has not reported yet." };
    return { ...nothing, state: "no_source", why: noSource(chainId) };
  }
  const { row, isStale } = seen;
  const since = Math.floor(row.sinceMs / 1_000);
  if (row.state === "no_source") return { ...nothing, state: "no_source", why: noSource(chainId) };
  if (isStale) {
    const last = new Date(row.updatedAtMs).toISOString().slice(0, 19);
    const why = `No ingest has reported since ${last}Z.`;
    return { ...nothing, state: "failing", why, since: Math.floor(row.updatedAtMs / 1_000) };
  }
  const { share, etaSeconds, historyFrom, historySince, historyEtaSeconds } = row;
  const progress = { share, etaSeconds, historyFrom, historySince, historyEtaSeconds };
  if (row.state === "failing") return { ...progress, state: "failing", why: row.why, since };
  return { ...progress, state: hasData ? "serving" : "first_read", why: null, since };
}

function noSource(chainId: number): string {
  const chain = chainId === 0 ? "Solana" : `chain ${chainId}`;
  return `No source is configured for ${chain} (${sourceSetting(chainId)}).`;
}

/** The 404 for a chain that this instance does not index; names those that it does. */
export function notConfiguredError(chainId: number, configured: readonly number[]): ServiceError {
  const setting = sourceSetting(chainId);
  if (chainId === 0)
    return new ServiceError("not_found", `Solana is not configured on this instance (${setting}).`);
  const named = configured.length === 0 ? "none" : configured.map((id) => `chain ${id}`).join(", ");
  return new ServiceError(
    "not_found",
    `Chain ${chainId} is not configured on this instance (${setting}). Configured: ${named}.`,
  );
}

/** The 503 for a table that was never indexed. `what` is the subject of its sentence, in the plural. */
export function notReadYetError(
  what: string,
  { chainId, reading }: { readonly chainId: number; readonly reading: ChainReading },
): ServiceError {
  const { state, share, etaSeconds, why } = reading;
  const subject = chainId === 0 ? what : `${what} of chain ${chainId}`;
  const wait = Math.min(MAX_RETRY_SECONDS, Math.max(MIN_RETRY_SECONDS, etaSeconds ?? MIN_RETRY_SECONDS));
  const unavailable = (message: string, retryAfterSeconds: number) =>
    new ServiceError("unavailable", message, { retryAfterSeconds, isExpected: true });
  if (state === "no_source") return unavailable(why ?? noSource(chainId), MAX_RETRY_SECONDS);
  if (state === "failing")
    return unavailable(
      `${subject} have not been read yet, and reading them currently fails. GET /readyz shows why.`,
      wait,
    );
  const left = etaSeconds === null || etaSeconds === 0 ? "" : `, about ${formatSeconds(etaSeconds)} left`;
  const done = share === null ? "" : `: ${Math.floor(share * 100)} % done${left}`;
  return unavailable(
    `${subject} are being read for the first time${done}. Try again in ${formatSeconds(wait)}.`,
    wait,
  );
}

/** The 503 between the ingest's first write and the first response from it. */
export function justReadError(what: string): ServiceError {
  return new ServiceError(
    "unavailable",
    `${what} have just been read for the first time. Try again in 1 s.`,
    {
      retryAfterSeconds: 1,
      isExpected: true,
    },
  );
}
