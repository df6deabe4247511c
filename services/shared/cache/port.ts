/**
 * A place for hot values that may vanish at any time. An outage is a miss, never an error:
 * adapters catch their engine's failures, count them and behave as if the key were absent.
 * Adapters: memory.ts (in-process) and redis.ts. suite.ts is the contract both must pass.
 */
export interface Cache {
  readonly engine: "memory" | "redis";
  get(key: string): Promise<string | undefined>;
  /** Values in the order of the keys; undefined where absent. */
  getMany(keys: readonly string[]): Promise<(string | undefined)[]>;
  set(key: string, value: string, options: { ttlMs: number }): Promise<void>;
  setMany(
    entries: readonly (readonly [key: string, value: string])[],
    options: { ttlMs: number },
  ): Promise<void>;
  delete(keys: readonly string[]): Promise<void>;
  /** Marks members of a set as used now. Removes those unused for `ttlMs`, and the oldest beyond `keep`. */
  touch(set: string, members: readonly string[], options: { ttlMs: number; keep: number }): Promise<void>;
  /** Members touched within `ttlMs`, the latest first, at most `limit`. */
  recent(set: string, options: { ttlMs: number; limit: number }): Promise<string[]>;
  /** Whether the engine answered its last call. */
  healthy(): boolean;
  close(): Promise<void>;
}
