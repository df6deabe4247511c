export interface RedisConnectionOptions {
  readonly url: string;
  /** A command that takes longer fails; 250 ms by default. */
  readonly commandTimeoutMs?: number;
  /** Called for every failure, for logs and metrics; callers of `run` never see one. */
  readonly onFailure?: (error: Error) => void;
}

export type Client = ReturnType<typeof import("redis")["createClient"]>;

/** After a timeout no command is sent for this long: callers must not each wait in turn. */
const PAUSE_AFTER_TIMEOUT_MS = 500;
/** This many timeouts in a row mean a dead connection (a lost host sends no packet). */
const TIMEOUTS_UNTIL_RECONNECT = 4;

/** Connects in the background: while the server cannot be reached, every command fails. */
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
  #lastCommandSucceeded = true;
  #timeouts = 0;
  #pausedUntilMs = 0;
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
    return !this.#closed && this.#client.isReady && this.#lastCommandSucceeded;
  }

  /** Resolves when the connection is ready (true) or after `timeoutMs` (false). */
  async waitUntilReady(timeoutMs: number): Promise<boolean> {
    const endMs = performance.now() + timeoutMs;
    while (!this.#closed && !this.#client.isReady && performance.now() < endMs)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return !this.#closed && this.#client.isReady;
  }

  /** Runs a command; returns `fallback` when it fails or times out. */
  async run<T>(fallback: T, command: (client: Client) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (this.#closed || !client.isReady || performance.now() < this.#pausedUntilMs) return fallback;
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        // One more turn of the event loop: after a long computation here the response may lie unread in the socket.
        const expire = (): unknown => setImmediate(() => reject(new RedisTimeout(this.#commandTimeoutMs)));
        timer = setTimeout(expire, this.#commandTimeoutMs);
      });
      const result = await Promise.race([command(client), late]);
      this.#lastCommandSucceeded = true;
      this.#timeouts = 0;
      return result;
    } catch (error) {
      this.#fail(error as Error, client);
      return fallback;
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(error: Error, client: Client): void {
    this.#lastCommandSucceeded = false;
    this.#onFailure(error);
    if (!(error instanceof RedisTimeout) || this.#closed || client !== this.#client) return;
    // Commands that were sent before the pause began time out together: that counts as one timeout.
    if (performance.now() < this.#pausedUntilMs) return;
    this.#pausedUntilMs = performance.now() + PAUSE_AFTER_TIMEOUT_MS;
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
