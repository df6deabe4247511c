import { LRUCache } from "lru-cache";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../../protocols/protocol.ts";

type Call = readonly [to: Hex, data: Hex];

/** Entities whose calls are remembered: those that events keep coming from are few. */
const MAX_ENTITIES = 2_000;

/**
 * Remembers what reading an entity called. Many calls follow from the results of others (a queue's length, its items,
 * their markets), each step an eth_call of its own. The next reading mostly makes the same calls: they are made at once,
 * and what is called anew follows as before.
 */
export class CallMemory {
  readonly #calls = new LRUCache<string, readonly Call[]>({ max: MAX_ENTITIES });

  /** The reader for one reading of an entity; `done` remembers its calls. */
  open(key: string, reader: ContractReader): { readonly reader: ContractReader; done(): void } {
    // A failure reaches whoever makes the call itself.
    for (const [to, data] of this.#calls.get(key) ?? []) reader.call(to, data).catch(() => {});
    const made = new Map<string, Call>();
    return {
      reader: {
        ...reader,
        call(to, data) {
          made.set(to + data, [to, data]);
          return reader.call(to, data);
        },
      },
      done: () => {
        this.#calls.set(key, [...made.values()]);
      },
    };
  }
}
