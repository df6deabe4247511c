import { openRedisConnection, type RedisConnectionOptions } from "./redis-connection.ts";

export interface SubscribeOptions {
  readonly url: string;
  readonly channel: string;
  readonly onMessage: (message: string) => void;
  /** Called after each (re)connection: messages published while disconnected are lost. */
  readonly onConnected: () => void;
  /** Called for every failure; reconnecting continues. */
  readonly onFailure?: (error: Error) => void;
}

export interface Subscription {
  close(): void;
}

const MAX_RECONNECT_MS = 2_000;
/** Pings detect a connection whose host was lost without a packet. */
const PING_MS = 5_000;

/** Subscribes to a channel until it is closed, across every loss of the connection. Never throws. */
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
  // After the first subscription the client resubscribes by itself before it emits `ready` again.
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

/** Publishes messages; returns whether Redis took them within `timeoutMs`. Never throws. */
export async function publishRedis(
  options: RedisConnectionOptions & { readonly channel: string; readonly timeoutMs: number },
  messages: readonly string[],
): Promise<boolean> {
  const redis = await openRedisConnection(options);
  try {
    if (!(await redis.waitUntilReady(options.timeoutMs))) return false;
    for (const message of messages) {
      const receivers = await redis.run<number | undefined>(undefined, (client) =>
        client.publish(options.channel, message),
      );
      if (receivers === undefined) return false;
    }
    return true;
  } finally {
    redis.close();
  }
}
