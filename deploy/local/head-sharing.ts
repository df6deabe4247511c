import { HeadWatch } from "../../services/shared/evm/head-watch/head-watch.ts";
import { type HeadNotice, isHeadRequest } from "../../services/shared/evm/head-watch/shared-heads.ts";
import { createEvmSource } from "../../services/shared/evm/source/source.ts";
import { closeOnAbort } from "../../services/shared/ingest/run-ingest.ts";
import type { Log } from "../../services/shared/logging/log.ts";
import { pause } from "../../services/shared/process/pause.ts";
import { systemClock } from "../../services/shared/rpc-client/endpoint/clock.ts";

/** Sends to a process; false once it is gone. */
export type Reply = (message: HeadNotice) => boolean;

interface HeadSharingOptions {
  /** RPC endpoints by chain. */
  readonly urls: ReadonlyMap<number, readonly string[]>;
  readonly pollMs: number;
  readonly log: Log;
}

const WAIT_MS = 5_000;
const RETRY_MS = 1_000;

/**
 * Watches the head of each chain once for all ingests that this process started, and tells them. Nothing is watched
 * before the first ingest asks, at the end of its backfill, nor after the last of them is gone.
 */
export class HeadSharing {
  readonly #options: HeadSharingOptions;
  readonly #stopping = new AbortController();
  readonly #subscribers = new Map<number, Set<Reply>>();
  readonly #runs = new Set<Promise<void>>();
  /** The last head told, for who comes later. */
  readonly #last = new Map<number, HeadNotice>();

  constructor(options: HeadSharingOptions) {
    this.#options = options;
  }

  /** A message of an ingest. */
  receive(message: unknown, reply: Reply): void {
    if (!isHeadRequest(message) || this.#stopping.signal.aborted) return;
    const { chainId } = message;
    const urls = this.#options.urls.get(chainId);
    if (urls === undefined) return;
    const known = this.#subscribers.get(chainId);
    if (known !== undefined) {
      known.add(reply);
      const last = this.#last.get(chainId);
      if (last !== undefined) reply(last);
      return;
    }
    this.#subscribers.set(chainId, new Set([reply]));
    const run = this.#watch(chainId, urls).finally(() => {
      this.#subscribers.delete(chainId);
      this.#last.delete(chainId);
      this.#runs.delete(run);
    });
    this.#runs.add(run);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#runs);
  }

  async #watch(chainId: number, urls: readonly string[]): Promise<void> {
    const { log, pollMs } = this.#options;
    const { signal } = this.#stopping;
    const source = closeOnAbort(
      signal,
      createEvmSource({ chainId, urls, log: (message, fields) => log.warn(fields, message) }),
    );
    const { head, probe } = source;
    const watch = new HeadWatch({ head, probe, pollMs, clock: systemClock, withSenders: true });
    try {
      while (!signal.aborted && this.#hasSubscribers(chainId)) {
        // The ingests ask the same endpoints themselves, and say what is wrong with them.
        await this.#tellNext(chainId, watch).catch(() => pause(RETRY_MS, signal));
        await watch.wait(WAIT_MS, signal);
      }
    } finally {
      await source.close();
    }
  }

  #hasSubscribers(chainId: number): boolean {
    return (this.#subscribers.get(chainId)?.size ?? 0) > 0;
  }

  async #tellNext(chainId: number, watch: HeadWatch): Promise<void> {
    const block = await watch.head();
    if (block.hash === this.#last.get(chainId)?.block.hash) return;
    const notice: HeadNotice = { kind: "head", chainId, block };
    this.#last.set(chainId, notice);
    const subscribers = this.#subscribers.get(chainId) ?? new Set();
    for (const reply of subscribers) if (!reply(notice)) subscribers.delete(reply);
  }
}
