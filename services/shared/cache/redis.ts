import type { Cache } from "./port.ts";
import {
  openRedisConnection,
  type RedisConnection,
  type RedisConnectionOptions,
} from "./redis-connection.ts";

export interface RedisCacheOptions extends RedisConnectionOptions {
  /** Put before every key, so that a server can be shared. */
  readonly prefix?: string;
}

const BATCH_SIZE = 500;
const MAX_TTL_MS = 366 * 24 * 3_600_000;

/** Connects in the background: while the server cannot be reached, every read is a miss. */
export async function openRedisCache(options: RedisCacheOptions): Promise<Cache> {
  return new RedisCache(await openRedisConnection(options), options.prefix ?? "chaintables:");
}

class RedisCache implements Cache {
  readonly engine = "redis";
  readonly #connection: RedisConnection;
  readonly #prefix: string;

  constructor(connection: RedisConnection, prefix: string) {
    this.#connection = connection;
    this.#prefix = prefix;
  }

  get(key: string): Promise<string | undefined> {
    return this.#connection.run(
      undefined,
      async (client) => (await client.get(this.#prefix + key)) ?? undefined,
    );
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    const values: (string | undefined)[] = [];
    for (const batch of batchesOf(keys)) {
      const absent = batch.map(() => undefined);
      const prefixed = batch.map((key) => this.#prefix + key);
      const found = await this.#connection.run<(string | null | undefined)[]>(absent, (client) =>
        client.mGet(prefixed),
      );
      for (const value of found) values.push(value ?? undefined);
    }
    return values;
  }

  set(key: string, value: string, options: { ttlMs: number }): Promise<void> {
    return this.setMany([[key, value]], options);
  }

  async setMany(
    entries: readonly (readonly [key: string, value: string])[],
    { ttlMs }: { ttlMs: number },
  ): Promise<void> {
    if (!(ttlMs > 0)) return this.delete(entries.map(([key]) => key));
    const expiration = { type: "PX", value: wholeTtl(ttlMs) } as const;
    for (const batch of batchesOf(entries)) {
      // Written in one turn, the commands travel together.
      await this.#connection.run(undefined, async (client) => {
        await Promise.all(batch.map(([key, value]) => client.set(this.#prefix + key, value, { expiration })));
      });
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const batch of batchesOf(keys)) {
      await this.#connection.run(undefined, async (client) => {
        await client.unlink(batch.map((key) => this.#prefix + key));
      });
    }
  }

  async touch(
    set: string,
    members: readonly string[],
    { ttlMs, keep }: { ttlMs: number; keep: number },
  ): Promise<void> {
    const key = this.#prefix + set;
    for (const batch of batchesOf(members)) {
      await this.#connection.run(undefined, async (client) => {
        const nowMs = Date.now();
        await Promise.all([
          client.zAdd(
            key,
            batch.map((value) => ({ score: nowMs, value })),
          ),
          client.zRemRangeByScore(key, "-inf", nowMs - ttlMs),
          client.zRemRangeByRank(key, 0, -1 - keep),
          client.pExpire(key, wholeTtl(ttlMs)),
        ]);
      });
    }
  }

  recent(set: string, { ttlMs, limit }: { ttlMs: number; limit: number }): Promise<string[]> {
    if (!(limit > 0)) return Promise.resolve([]);
    return this.#connection.run<string[]>([], (client) =>
      client.zRange(this.#prefix + set, "+inf", `(${Date.now() - ttlMs}`, {
        BY: "SCORE",
        REV: true,
        LIMIT: { offset: 0, count: limit },
      }),
    );
  }

  healthy(): boolean {
    return this.#connection.healthy();
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}

function wholeTtl(ttlMs: number): number {
  return Math.min(Math.ceil(ttlMs), MAX_TTL_MS);
}

/** Batches small enough that a healthy server answers each within one command timeout. */
function batchesOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / BATCH_SIZE) }, (_, i) =>
    items.slice(i * BATCH_SIZE, (i + 1) * BATCH_SIZE),
  );
}
