import { ServiceError } from "../errors.ts";
import type { ChainReading } from "../grpc/types.ts";
import { formatSeconds } from "./progress-line.ts";
import type { ObservedIngest } from "./status-watcher.ts";

/** A client that waits for a first read asks again after so many seconds, at least and at most. */
const MIN_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 60;

/** The variable that names a chain's endpoints; Solana has no chain id of its own. */
export function sourceSetting(chainId: number): string {
  return chainId === 0 ? "SOLANA_RPC" : `EVM_RPC_${chainId}`;
}

/**
 * What a chain's table is, from the two things that its store says: whether it holds a block, and what the ingest last
 * said. `isExpected`: this process knows of a source (one machine, one environment), so that an ingest that has not
 * said anything yet is on its way.
 */
export function deriveChainReading(at: {
  readonly hasData: boolean;
  readonly seen: ObservedIngest | undefined;
  readonly isExpected: boolean;
  readonly chainId: number;
}): ChainReading {
  const { hasData, seen, isExpected, chainId } = at;
  const nothing = { share: null, etaSeconds: null, why: null, since: null };
  if (seen === undefined) {
    if (hasData) return { ...nothing, state: "serving" };
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
  const { share, etaSeconds } = row;
  if (row.state === "failing") return { state: "failing", share, etaSeconds, why: row.why, since };
  return { state: hasData ? "serving" : "first_read", share, etaSeconds, why: null, since };
}

function noSource(chainId: number): string {
  const chain = chainId === 0 ? "Solana" : `chain ${chainId}`;
  return `No source is configured for ${chain} (${sourceSetting(chainId)}).`;
}

/** The 503 for a table that was never read. `what` is the subject of its sentence, in the plural. */
export function notReadYetError(
  what: string,
  { chainId, reading }: { readonly chainId: number; readonly reading: ChainReading },
): ServiceError {
  const { state, share, etaSeconds, why } = reading;
  const subject = chainId === 0 ? what : `${what} of chain ${chainId}`;
  const wait = Math.min(MAX_RETRY_SECONDS, Math.max(MIN_RETRY_SECONDS, etaSeconds ?? MIN_RETRY_SECONDS));
  const refuse = (message: string, retryAfterSeconds: number) =>
    new ServiceError("unavailable", message, { retryAfterSeconds, isExpected: true });
  if (state === "no_source") return refuse(why ?? noSource(chainId), MAX_RETRY_SECONDS);
  if (state === "failing")
    return refuse(
      `${subject} have not been read yet, and reading them fails at the moment. GET /readyz says why.`,
      wait,
    );
  const left = etaSeconds === null || etaSeconds === 0 ? "" : `, about ${formatSeconds(etaSeconds)} left`;
  const done = share === null ? "" : `: ${Math.floor(share * 100)} % done${left}`;
  return refuse(
    `${subject} are being read for the first time${done}. Try again in ${formatSeconds(wait)}.`,
    wait,
  );
}

/** Between the first write of the ingest and the first answer from it. */
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
