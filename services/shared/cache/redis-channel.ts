import { openRedisConnection, type RedisConnectionOptions } from "./redis-connection.ts";

export interface SubscribeOptions {
  readonly url: string;
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  /** Called at each connection: what was said while there was none has not been heard. */
  readonly onConnected: () => void;
  /** Told of every failure; connecting goes on. */
  readonly onFailure?: (error: Error) => void;
}

export interface Subscription {
  close(): void;
}

const MAX_RECONNECT_MS = 2_000;
/** A connection that nothing travels over, as when a host was lost, is found out by these. */
const PING_MS = 5_000;

/** Listens to a channel for as long as it is open, over every loss of the connection. Never throws. */
export async function subscribeRedis(options: SubscribeOptions): Promise<Subscription> {
  const { url, channel, onMessage, onConnected, onFailure = () => {} } = options;
  const { createClient } = await import("redis");
  const client = createClient({
    url,
    pingInterval: PING_MS,
    socket: {
      connectTimeout: MAX_RECONNECT_MS,
      reconnectStrategy: (retries) =>
        Math.min(MAX_RECONNECT_MS, 50 * 2 ** Math.min(retries, 10)) * (0.5 + Math.random()),
    },
  });
  client.on("error", onFailure);
  let isSubscribed = false;
  // From the first time on the client subscribes by itself, before it says that it is ready again.
  client.on("ready", () => {
    if (isSubscribed) {
      onConnected();
      return;
    }
    client.subscribe(channel, onMessage).then(() => {
      isSubscribed = true;
      onConnected();
    }, onFailure);
  });
  // Rejects only when the client is closed before it ever connected.
  client.connect().catch(() => {});
  return {
    close() {
      try {
        client.destroy();
      } catch {
        // It was never open.
      }
    },
  };
}

/** Says something on a channel once; answers whether Redis has heard it within `timeoutMs`. Never throws. */
export async function publishRedis(
  options: RedisConnectionOptions & { readonly channel: string; readonly timeoutMs: number },
  messages: readonly string[],
): Promise<boolean> {
  const redis = await openRedisConnection(options);
  try {
    if (!(await redis.waitUntilReady(options.timeoutMs))) return false;
    for (const message of messages) {
      const heard = await redis.run<number | undefined>(undefined, (client) =>
        client.publish(options.channel, message),
      );
      if (heard === undefined) return false;
    }
    return true;
  } finally {
    redis.close();
  }
}
