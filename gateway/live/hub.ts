import type { Family } from "../../services/shared/contract/endpoint.ts";
import type { FamilyHeads } from "../proxy/heads/family-heads.ts";
import { serviceUnavailable } from "../request/errors.ts";
import type { FetchTable, TableQuery } from "./table-source.ts";
import { Topic } from "./topic.ts";

export interface HubOptions {
  readonly heads: ReadonlyMap<Family, FamilyHeads>;
  readonly fetchTable: FetchTable;
  readonly maxTopics: number;
  /** How long a table is followed after its last listener has left, so that one who comes back misses nothing. */
  readonly lingerMs?: number;
}

interface HeldTopic {
  readonly topic: Topic;
  readonly heads: FamilyHeads;
  /** Listeners, and those that wait for the first table. */
  users: number;
  linger: NodeJS.Timeout | undefined;
}

const LINGER_MS = 30_000;

/** The tables that are followed: one for each distinct query, however many listen. */
export class LiveHub {
  readonly #options: HubOptions;
  readonly #topics = new Map<string, HeldTopic>();

  constructor(options: HubOptions) {
    this.#options = options;
    for (const [family, heads] of options.heads) {
      heads.listen({
        onHead: ({ chainId }) => this.#onHead(family, chainId),
        onOutage: (error) => this.#onOutage(family, error),
      });
    }
  }

  get size(): number {
    return this.#topics.size;
  }

  /** The head that a service told last. */
  latest(family: Family, chain: number) {
    return this.#options.heads.get(family)?.latest(chain);
  }

  /** The table of this name, followed until `leave` is called as often as this. */
  join(name: string, query: TableQuery): Topic {
    let held = this.#topics.get(name);
    if (held === undefined) {
      this.#makeRoom();
      held = this.#create(name, query);
    }
    held.users += 1;
    clearTimeout(held.linger);
    return held.topic;
  }

  leave(name: string, topic: Topic): void {
    const held = this.#topics.get(name);
    if (held?.topic !== topic) return;
    held.users -= 1;
    if (held.users > 0) return;
    const { lingerMs = LINGER_MS } = this.#options;
    if (topic.id === undefined) this.#drop(name);
    else held.linger = setTimeout(() => this.#drop(name), lingerMs).unref();
  }

  close(): void {
    for (const name of [...this.#topics.keys()]) this.#drop(name);
  }

  #create(name: string, query: TableQuery): HeldTopic {
    const { family } = query.endpoint;
    const heads = this.#options.heads.get(family);
    if (heads === undefined) throw serviceUnavailable(family);
    heads.acquire();
    const latest = () => heads.latest(query.chain);
    const topic = new Topic({ ...query, latest, fetchTable: this.#options.fetchTable });
    const held: HeldTopic = { topic, heads, users: 0, linger: undefined };
    this.#topics.set(name, held);
    // Whoever comes next asks again.
    topic.ready.catch(() => {
      if (this.#topics.get(name) === held) this.#drop(name);
    });
    return held;
  }

  /** Listeners are as many as topics at most: where there is no room, one is followed for nobody. */
  #makeRoom(): void {
    if (this.#topics.size < this.#options.maxTopics) return;
    for (const [name, { users }] of this.#topics) {
      if (users > 0) continue;
      this.#drop(name);
      return;
    }
  }

  #drop(name: string): void {
    const held = this.#topics.get(name);
    if (held === undefined) return;
    this.#topics.delete(name);
    clearTimeout(held.linger);
    held.topic.close();
    held.heads.release();
  }

  #onHead(family: Family, chain: number): void {
    for (const { topic } of this.#topics.values()) {
      if (topic.family === family && topic.chain === chain) topic.onHead();
    }
  }

  #onOutage(family: Family, error: Error | undefined): void {
    for (const { topic } of this.#topics.values()) {
      if (topic.family === family) topic.fail(serviceUnavailable(family, error));
    }
  }
}
