import type { Cache } from "./port.ts";

export interface RedisCacheOptions {
  readonly url: string;
  /** Put before every key, so that a server can be shared. */
  readonly prefix?: string;
  /** A command that takes longer is a miss; 250 ms by default. */
  readonly commandTimeoutMs?: number;
  /** Told of every failure, for logs and metrics; callers of the cache never see one. */
  readonly onFailure?: (error: Error) => void;
}

type Client = ReturnType<typeof import("redis")["createClient"]>;

/** After a command without an answer, the server is left alone this long: callers must not each wait in turn. */
const REST_AFTER_TIMEOUT_MS = 500;
/** So many timeouts in a row mean a dead connection (as after a lost host, which no packet announces). */
const TIMEOUTS_UNTIL_RECONNECT = 4;
const PART = 500;
const MAX_TTL_MS = 366 * 24 * 3_600_000;

/** Connects in the background: until that succeeds, and whenever the server is away, everything is a miss. */
export async function openRedisCache(options: RedisCacheOptions): Promise<Cache> {
  const { createClient } = await import("redis");
  return new RedisCache(() => {
    return createClient({
      url: options.url,
      // Commands fail at once while disconnected, rather than wait for a connection.
      disableOfflineQueue: true,
      socket: {
        connectTimeout: 2_000,
        reconnectStrategy: (retries) =>
          Math.min(2_000, 50 * 2 ** Math.min(retries, 10)) * (0.5 + Math.random()),
      },
    }) as Client;
  }, options);
}

class RedisCache implements Cache {
  readonly engine = "redis";
  readonly #createClient: () => Client;
  readonly #prefix: string;
  readonly #commandTimeoutMs: number;
  readonly #onFailure: (error: Error) => void;
  #client: Client;
  #answered = true;
  #timeouts = 0;
  #restUntilMs = 0;
  #closed = false;

  constructor(createClient: () => Client, options: RedisCacheOptions) {
    this.#createClient = createClient;
    this.#prefix = options.prefix ?? "chaintables:";
    this.#commandTimeoutMs = options.commandTimeoutMs ?? 250;
    this.#onFailure = options.onFailure ?? (() => {});
    this.#client = this.#connect();
  }

  #connect(): Client {
    const client = this.#createClient();
    client.on("error", this.#onFailure);
    // Rejects only when the client is closed before it ever connected.
    client.connect().catch(() => {});
    return client;
  }

  get(key: string): Promise<string | undefined> {
    return this.#ask(undefined, async (client) => (await client.get(this.#prefix + key)) ?? undefined);
  }

  async getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    const values: (string | undefined)[] = [];
    for (const part of partsOf(keys)) {
      const absent = part.map(() => undefined);
      const prefixed = part.map((key) => this.#prefix + key);
      const found = await this.#ask<(string | null | undefined)[]>(absent, (client) => client.mGet(prefixed));
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
    const ttl = Math.min(Math.ceil(ttlMs), MAX_TTL_MS);
    const expiration = { type: "PX", value: ttl } as const;
    for (const part of partsOf(entries)) {
      // Written in one turn, the commands travel together.
      await this.#ask(undefined, async (client) => {
        await Promise.all(part.map(([key, value]) => client.set(this.#prefix + key, value, { expiration })));
      });
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const part of partsOf(keys)) {
      await this.#ask(undefined, async (client) => {
        await client.unlink(part.map((key) => this.#prefix + key));
      });
    }
  }

  healthy(): boolean {
    return !this.#closed && this.#client.isReady && this.#answered;
  }

  /** The answer, or `otherwise` when there is none in time. */
  async #ask<T>(otherwise: T, command: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (this.#closed || !client.isReady || performance.now() < this.#restUntilMs) return otherwise;
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        // One more turn: after a long computation in this process the answer may lie unread in the socket.
        const expire = (): unknown => setImmediate(() => reject(new RedisTimeout(this.#commandTimeoutMs)));
        timer = setTimeout(expire, this.#commandTimeoutMs);
      });
      const answer = await Promise.race([command(client), late]);
      this.#answered = true;
      this.#timeouts = 0;
      return answer;
    } catch (error) {
      this.#fail(error as Error, client);
      return otherwise;
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(error: Error, client: Client): void {
    this.#answered = false;
    this.#onFailure(error);
    if (!(error instanceof RedisTimeout) || this.#closed || client !== this.#client) return;
    // Commands that were sent before the rest began run out together: that is one timeout.
    if (performance.now() < this.#restUntilMs) return;
    this.#restUntilMs = performance.now() + REST_AFTER_TIMEOUT_MS;
    this.#timeouts++;
    if (this.#timeouts < TIMEOUTS_UNTIL_RECONNECT) return;
    this.#timeouts = 0;
    this.#client = this.#connect();
    destroy(client);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    destroy(this.#client);
  }
}

/** Pieces that a healthy server answers well within the time of one command. */
function partsOf<T>(items: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(items.length / PART) }, (_, i) =>
    items.slice(i * PART, (i + 1) * PART),
  );
}

class RedisTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`Redis did not answer within ${timeoutMs} ms`);
  }
}

function destroy(client: Client): void {
  try {
    client.destroy();
  } catch {
    // It was never open.
  }
}
