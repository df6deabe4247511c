import { within } from "../../services/shared/process/pause.ts";
import type { Stoppable } from "../../services/shared/process/process.ts";

/**
 * When a part is stopped. Ingests end at once. The front drains first, then the processes behind it end together:
 * services, and the local chains, which payments under way are settled on.
 */
export type Place = "ingest" | "front" | "behind";

/**
 * A Ctrl-C ends everything within three seconds: what takes longer is killed. That loses nothing stored: indexes continue
 * from their checkpoint, payments from the ledger, the local chain from its last complete save (at most 400 s old, which
 * the indexes undo as a fork). Processes that run alone have the settings DRAIN_* instead.
 */
const ALL_MS = 2_700;
/** For the front: requests in flight. */
export const DRAIN_MS = 700;
export const INGEST_STOP_MS = 2_000;
/** Begins when the front is through. A chain that is killed while it saves keeps its last whole file. */
export const CHAIN_STOP_MS = ALL_MS - DRAIN_MS;

/** Everything that npm start has started, to be stopped in order, at whatever moment. */
export class Parts {
  readonly #parts: { readonly part: Stoppable; readonly place: Place }[] = [];
  #stopping: Promise<void> | undefined;

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  /** One that comes too late is stopped at once. */
  add<T extends Stoppable>(place: Place, part: T): T {
    if (this.isStopping) void part.stop().catch(() => {});
    else this.#parts.push({ part, place });
    return part;
  }

  /** Never rejects; repeated calls wait for the same stop. */
  stop(): Promise<void> {
    this.#stopping ??= within(ALL_MS, this.#stopAll());
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const ingests = this.#stopPlace("ingest");
    await within(DRAIN_MS, this.#stopPlace("front"));
    await Promise.all([ingests, this.#stopPlace("behind")]);
  }

  async #stopPlace(place: Place): Promise<void> {
    const parts = this.#parts.filter((each) => each.place === place);
    await Promise.allSettled(parts.map(({ part }) => part.stop()));
  }
}
