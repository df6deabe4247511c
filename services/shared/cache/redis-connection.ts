export interface RedisConnectionOptions {
  readonly url: string;
  /** A command that takes longer has no answer; 250 ms by default. */
  readonly commandTimeoutMs?: number;
  /** Told of every failure, for logs and metrics; whoever asks never sees one. */
  readonly onFailure?: (error: Error) => void;
}

export type Client = ReturnType<typeof import("redis")["createClient"]>;

/** After a command without an answer, the server is left alone this long: callers must not each wait in turn. */
const REST_AFTER_TIMEOUT_MS = 500;
/** So many timeouts in a row mean a dead connection (as after a lost host, which no packet announces). */
const TIMEOUTS_UNTIL_RECONNECT = 4;

/** Connects in the background: until that succeeds, and whenever the server is away, nothing has an answer. */
export async function openRedisConnection(options: RedisConnectionOptions): Promise<RedisConnection> {
  const { createClient } = await import("redis");
  return new RedisConnection(() => {
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

/** A client that never throws and never waits long. */
export class RedisConnection {
  readonly #createClient: () => Client;
  readonly #commandTimeoutMs: number;
  readonly #onFailure: (error: Error) => void;
  #client: Client;
  #answered = true;
  #timeouts = 0;
  #restUntilMs = 0;
  #closed = false;

  constructor(createClient: () => Client, options: RedisConnectionOptions) {
    this.#createClient = createClient;
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

  healthy(): boolean {
    return !this.#closed && this.#client.isReady && this.#answered;
  }

  /** Resolves when the server can be asked, or after `timeoutMs`; answers which. */
  async waitUntilReady(timeoutMs: number): Promise<boolean> {
    const endMs = performance.now() + timeoutMs;
    while (!this.#closed && !this.#client.isReady && performance.now() < endMs)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return !this.#closed && this.#client.isReady;
  }

  /** The answer, or `otherwise` when there is none in time. */
  async run<T>(otherwise: T, command: (client: Client) => Promise<T>): Promise<T> {
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

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    destroy(this.#client);
  }
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
