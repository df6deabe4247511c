import type { Upstream, UpstreamGroup, UpstreamState } from "./upstream.ts";

/** Asks one replica whether it serves; a rejection says why it cannot be reached. */
export interface HealthProbe {
  check(): Promise<UpstreamState>;
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
}

export interface HealthPoll {
  /** Resolves when every replica has been asked once; polling goes on until stop. */
  start(): Promise<void>;
  stop(): void;
}

/**
 * Keeps the state of replicas true to what each replica last said of itself. Each replica is asked on its own clock,
 * so that a slow one delays no other.
 */
export function createHealthPoll({ polled, intervalMs = 1_000 }: HealthPollOptions): HealthPoll {
  const timers = new Map<Upstream, NodeJS.Timeout>();
  let isStopped = false;

  const ask = async ({ group, upstream, probe }: PolledUpstream): Promise<void> => {
    try {
      const state = await probe.check();
      if (!isStopped) group.report(upstream, state);
    } catch (error) {
      if (!isStopped) group.report(upstream, "unreachable", error);
    }
  };

  const repeat = async (member: PolledUpstream): Promise<void> => {
    await ask(member);
    if (isStopped) return;
    timers.set(
      member.upstream,
      setTimeout(() => void repeat(member), intervalMs),
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
