import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RedisConnection } from "../../../services/shared/cache/redis-connection.ts";

export interface Lock {
  release(): Promise<void>;
}

/** Locks that let one request at a time handle a payment. */
export interface Locks {
  /** Waits at most `waitMs` (0 = not at all); undefined if the lock was not free within that time. Never rejects. */
  acquire(name: string, options: { readonly waitMs: number }): Promise<Lock | undefined>;
  close(): void;
}

/** Locks among the requests of this process; waiters get the lock in order. */
export function createMemoryLocks(): Locks {
  /** Waiters of each held lock. */
  const held = new Map<string, (() => void)[]>();

  const release = (name: string): void => {
    const next = held.get(name)?.shift();
    // Passed on while it is held, so that no other request gets in between.
    if (next === undefined) held.delete(name);
    else next();
  };
  const lockOf = (name: string): Lock => {
    let isHeld = true;
    return {
      async release() {
        if (isHeld) release(name);
        isHeld = false;
      },
    };
  };

  return {
    async acquire(name, { waitMs }) {
      const waiting = held.get(name);
      if (waiting === undefined) {
        held.set(name, []);
        return lockOf(name);
      }
      if (waitMs <= 0) return undefined;
      const isAcquired = await new Promise<boolean>((resolve) => {
        const take = () => {
          clearTimeout(timer);
          resolve(true);
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(take), 1);
          resolve(false);
        }, waitMs);
        waiting.push(take);
      });
      return isAcquired ? lockOf(name) : undefined;
    },
    close() {},
  };
}

const PREFIX = "chaintables:payment:";
/** A killed gateway's locks expire after this long; a running one renews its own well before. */
const TTL_MS = 10_000;
const RENEW = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end";
const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end";
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 200;

/**
 * Locks among all gateways on one Redis. While it is unreachable each gateway locks alone: two of them may then request one
 * payment's response from the service, but only one opens its row, and the token accepts an authorization once.
 */
export function createRedisLocks(connection: RedisConnection, { ttlMs = TTL_MS } = {}): Locks {
  const local = createMemoryLocks();

  /** Whether the key was set; also true while Redis is unreachable. */
  const trySet = async (key: string, token: string): Promise<boolean> => {
    const options = { condition: "NX", expiration: { type: "PX", value: ttlMs } } as const;
    const answer = await connection.run<string | null>("unreachable", (client) =>
      client.set(key, token, options),
    );
    return answer !== null;
  };
  const run = (script: string, key: string, args: string[]) =>
    connection.run<unknown>(undefined, (client) => client.eval(script, { keys: [key], arguments: args }));

  return {
    async acquire(name, { waitMs }) {
      const untilMs = performance.now() + waitMs;
      const own = await local.acquire(name, { waitMs });
      if (own === undefined) return undefined;
      const key = PREFIX + name;
      const token = randomUUID();
      for (let pauseMs = FIRST_PAUSE_MS; !(await trySet(key, token)); ) {
        const leftMs = untilMs - performance.now();
        if (leftMs <= 0) {
          await own.release();
          return undefined;
        }
        await sleep(Math.min(pauseMs, leftMs));
        pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
      }
      // Also if Redis did not respond: it may have set the key all the same.
      const renewal = setInterval(() => void run(RENEW, key, [token, String(ttlMs)]), ttlMs / 3);
      renewal.unref();
      return {
        async release() {
          clearInterval(renewal);
          await run(RELEASE, key, [token]);
          await own.release();
        },
      };
    },
    close: () => connection.close(),
  };
}
