import { IngestStalled } from "../chain-errors.ts";
import type { Log } from "../logging/log.ts";
import { pause } from "../process/pause.ts";

const RETRY_MS = 5_000;

export interface StallOptions {
  readonly log: Pick<Log, "error" | "info">;
  readonly signal: AbortSignal;
  /** Called with each stall: the chain's status shows it. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Milliseconds between two attempts; default 5,000. */
  readonly retryMs?: number | undefined;
}

/** Waits while indexing is stalled. Logs each stall once, however often it is tried again. */
export class StallMonitor {
  readonly #options: StallOptions;
  #isStalled = false;

  constructor(options: StallOptions) {
    this.#options = options;
  }

  get isStalled(): boolean {
    return this.#isStalled;
  }

  /** Resolves once `check` does not throw IngestStalled, or at the signal. */
  async waitUntil(check: () => Promise<void>): Promise<void> {
    const { signal } = this.#options;
    for (let isStalled = true; isStalled && !signal.aborted; ) isStalled = await this.#isStalledBy(check);
  }

  /** Runs work that may throw IngestStalled, and waits a moment after that. */
  async run(work: () => Promise<void>): Promise<void> {
    await this.#isStalledBy(work);
  }

  /** Indexing goes on. */
  resolve(): void {
    if (this.#isStalled) this.#options.log.info("the endpoints serve the index again: indexing goes on");
    this.#isStalled = false;
  }

  async #isStalledBy(work: () => Promise<void>): Promise<boolean> {
    const { log, signal, onFailure, retryMs = RETRY_MS } = this.#options;
    try {
      await work();
      return false;
    } catch (error) {
      if (!(error instanceof IngestStalled)) throw error;
      onFailure?.(error);
      const { message, advice, fields } = error;
      if (!this.#isStalled) log.error(fields, advice === "" ? message : `${message} ${advice}`);
      this.#isStalled = true;
    }
    await pause(retryMs, signal);
    return true;
  }
}
