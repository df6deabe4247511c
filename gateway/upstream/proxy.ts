import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Family } from "../../services/shared/contract/endpoint.ts";
import { ServiceError } from "../../services/shared/errors.ts";
import type { Clock } from "../clock.ts";
import type { Forward, Passage } from "../passage.ts";
import { attempt } from "./attempt.ts";
import { answerIsBad, connectionFailureOf, deadlineHasPassed, isBadHttp, serviceIsDown } from "./failure.ts";
import type { Upstream, UpstreamGroup } from "./upstream.ts";

export interface ProxyOptions {
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** From the arrival of the request to the last byte of the service's answer. */
  readonly deadlineMs: number;
  /** Connections a replica gets at most; further requests wait for one until their deadline. */
  readonly maxConnections?: number;
}

export interface Proxy {
  readonly forward: Forward;
  /** Closes the connections to the services. */
  close(): void;
}

/**
 * Hands a request to the least busy serving replica of its family and the answer back to the client. A failed
 * connection is tried once more, on another replica if there is one: every request is a read and may be repeated.
 * Throws `unavailable` when no replica serves or its answer is broken, `request_timeout` after the deadline.
 */
export function createProxy(options: ProxyOptions): Proxy {
  const { groups, clock, isDraining, deadlineMs, maxConnections = 512 } = options;
  const connections = { keepAlive: true, maxSockets: maxConnections, maxFreeSockets: 64 };
  const httpAgent = new HttpAgent(connections);
  const httpsAgent = new HttpsAgent(connections);

  /** The connection failure that leaves a second try open; throws every other outcome. */
  const tryOnce = async (passage: Passage, upstream: Upstream, signal: AbortSignal): Promise<unknown> => {
    const agent = upstream.url.startsWith("https:") ? httpsAgent : httpAgent;
    try {
      await attempt(passage, { upstream, agent, clock, signal, isDraining });
      return undefined;
    } catch (error) {
      if (passage.res.destroyed) return undefined;
      if (signal.aborted) throw deadlineHasPassed(deadlineMs);
      if (connectionFailureOf(error) !== undefined) return error;
      const isTheirs = !(error instanceof ServiceError) && isBadHttp(error);
      throw isTheirs ? answerIsBad(passage.endpoint.family, error) : error;
    }
  };

  const forwardUntil = async (passage: Passage, signal: AbortSignal): Promise<void> => {
    const { family } = passage.endpoint;
    const group = groups.get(family);
    const first = group?.choose();
    if (!group || !first) throw serviceIsDown(family);
    const failure = await tryOnce(passage, first, signal);
    if (failure === undefined) return;
    // Nobody else should be sent to where nobody is before the next probe has found it again.
    if (connectionFailureOf(failure) === "not_reached") group.report(first, "unreachable", failure);
    // A lone replica gets a second chance after a broken connection: it may just have closed an idle one.
    const second = group.choose(first) ?? (first.state === "serving" ? first : undefined);
    const lastFailure = second ? await tryOnce(passage, second, signal) : failure;
    if (lastFailure !== undefined) throw serviceIsDown(family, lastFailure);
  };

  return {
    async forward(passage) {
      const deadline = new AbortController();
      const leftMs = deadlineMs - (clock.monotonicMs() - passage.arrivedMs);
      const timer = setTimeout(() => deadline.abort(), Math.max(0, leftMs));
      try {
        await forwardUntil(passage, deadline.signal);
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}
