import type { Log } from "../../logging/log.ts";
import { pause } from "../../process/pause.ts";
import { type EvmSource, IndexContradicted } from "../port.ts";

const CHECK_EVERY_MS = 5_000;

export interface AgreementDeps {
  readonly source: Pick<EvmSource, "chainId" | "recheck">;
  readonly log: Pick<Log, "error" | "info">;
  readonly signal: AbortSignal;
  /** Called with each contradiction; the chain's status shows it meanwhile. */
  readonly onFailure?: (error: unknown) => void;
  /** Milliseconds between two checks of the endpoints; default 5,000. */
  readonly checkEveryMs?: number;
}

/**
 * Runs `work`. While every endpoint contradicts the final block of the index, the work pauses and nothing is deleted:
 * this logs one error, checks the endpoints every few seconds, and restarts the work when one of them agrees.
 */
export async function workInAgreement(
  { source, log, signal, onFailure, checkEveryMs = CHECK_EVERY_MS }: AgreementDeps,
  work: () => Promise<void>,
): Promise<void> {
  const { chainId } = source;
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof IndexContradicted)) throw error;
      onFailure?.(error);
      log.error(
        { chainId, contradictions: error.contradictions },
        `${error.message} Nothing is deleted: indexing waits until one agrees. ` +
          `If the endpoints are right, stop the ingest and run npm run reindex -- --chain ${chainId}.`,
      );
    }
    await waitForAgreement({ source, signal, checkEveryMs });
    if (!signal.aborted)
      log.info({ chainId }, "An RPC endpoint agrees with the index again; indexing goes on.");
  }
}

async function waitForAgreement({
  source,
  signal,
  checkEveryMs,
}: Required<Omit<AgreementDeps, "log" | "onFailure">>): Promise<void> {
  while (!signal.aborted) {
    await pause(checkEveryMs, signal);
    try {
      return await source.recheck();
    } catch (error) {
      if (!(error instanceof IndexContradicted)) throw error;
    }
  }
}
