import type { Log } from "../../shared/logging/log.ts";
import { pause } from "../../shared/process/pause.ts";
import type { Contradiction, SolanaSource } from "../chain/port.ts";

/** The index cannot go on until endpoints, or the operator, change something. Nothing of it is deleted. */
export class Standstill extends Error {
  override readonly name = "Standstill";
}

const REINDEX =
  "or, if the index is to be thrown away and made anew, stop the ingest and run: npm run reindex -- --chain solana";

/** Why no endpoint is of use, for the operator. */
export function contradicted(contradictions: readonly Contradiction[]): string {
  const named = contradictions.map(({ host, reason }) => `${host}: ${reason}`).join("; ");
  return `Every Solana endpoint contradicts the index (${named}). Nothing is deleted, and indexing waits: name an endpoint of the indexed cluster in SOLANA_RPC, ${REINDEX}`;
}

/** Slots that are still to be indexed and that no endpoint keeps any more. */
export function slotsGone(from: number, to: number): string {
  return `Slots ${from} to ${to} are still to be indexed, and no endpoint has them any more. Nothing is deleted, and indexing waits: name an endpoint in SOLANA_RPC that has them, ${REINDEX}`;
}

const CHECK_AGAIN_MS = 5_000;

/** Waits out standstills: logs each once, however often the endpoints are checked meanwhile. */
export class StandstillWatch {
  readonly #log: Log;
  readonly #signal: AbortSignal;
  readonly #onFailure: ((error: Standstill) => void) | undefined;
  readonly #checkAgainMs: number;
  #isStanding = false;

  constructor({
    log,
    signal,
    onFailure,
    checkAgainMs = CHECK_AGAIN_MS,
  }: {
    log: Log;
    signal: AbortSignal;
    /** Called with each standstill: the status of the chain shows it. */
    onFailure?: (error: Standstill) => void;
    checkAgainMs?: number | undefined;
  }) {
    this.#log = log;
    this.#signal = signal;
    this.#onFailure = onFailure;
    this.#checkAgainMs = checkAgainMs;
  }

  /** Resolves once not every endpoint contradicts the anchored chain. */
  async untilAgreed(source: Pick<SolanaSource, "recheck">): Promise<void> {
    while (!this.#signal.aborted) {
      const contradictions = await source.recheck();
      if (contradictions.length === 0) return;
      await this.#stand(contradicted(contradictions));
    }
  }

  /** Indexing is under way. */
  over(): void {
    if (this.#isStanding) this.#log.info("the endpoints serve the index again: indexing goes on");
    this.#isStanding = false;
  }

  /** Runs work that may end in a standstill, and waits a moment after one. */
  async run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Standstill)) throw error;
      await this.#stand(error.message);
    }
  }

  async #stand(message: string): Promise<void> {
    this.#onFailure?.(new Standstill(message));
    if (!this.#isStanding) this.#log.error(message);
    this.#isStanding = true;
    await pause(this.#checkAgainMs, this.#signal);
  }
}
