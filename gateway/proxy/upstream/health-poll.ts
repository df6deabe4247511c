import type { Upstream, UpstreamGroup } from "./upstream.ts";

/** Checks whether one replica serves; rejects with why it cannot be reached. */
export interface HealthProbe {
  check(): Promise<"serving" | "not_serving">;
  close(): void;
}

export interface PolledUpstream {
  readonly group: UpstreamGroup;
  readonly upstream: Upstream;
  readonly probe: HealthProbe;
}

export interface HealthPollOptions {
  readonly polled: readonly PolledUpstream[];
  readonly intervalMs?: number;
  /** Until the next probe of a serving replica whose last probe failed: an outage should be known soon. */
  readonly retryMs?: number;
}

export interface HealthPoll {
  /** Resolves when every replica has been probed once; polling continues until stop. */
  start(): Promise<void>;
  stop(): void;
}

/**
 * Keeps the state of replicas up to date. Each replica is probed on its own timer, so that a slow one delays no other.
 */
export function createHealthPoll({
  polled,
  intervalMs = 1_000,
  retryMs = 250,
}: HealthPollOptions): HealthPoll {
  const timers = new Map<Upstream, NodeJS.Timeout>();
  let isStopped = false;

  const poll = async ({ group, upstream, probe }: PolledUpstream): Promise<void> => {
    try {
      const state = await probe.check();
      if (!isStopped) group.report(upstream, state);
    } catch (error) {
      if (!isStopped) group.reportFailure(upstream, error);
    }
  };

  const repeat = async (member: PolledUpstream): Promise<void> => {
    await poll(member);
    if (isStopped) return;
    const { state, failures } = member.upstream;
    const isMissed = state === "serving" && failures > 0;
    const pauseMs = isMissed ? Math.min(retryMs, intervalMs) : intervalMs;
    timers.set(
      member.upstream,
      setTimeout(() => void repeat(member), pauseMs),
    );
  };

  return {
    async start() {
      await Promise.all(polled.map(repeat));
    },
    stop() {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      for (const { probe } of polled) probe.close();
    },
  };
}
