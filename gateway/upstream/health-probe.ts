import { createHealthClient } from "../../services/shared/rpc/client.ts";
import type { HealthProbe } from "./health-poll.ts";
import type { UpstreamAddress } from "./upstream.ts";

/**
 * Probes one replica on both its faces: grpc.health.v1 says whether it can answer, and its HTTP port must be there,
 * or a wrong URL beside a right gRPC address would look healthy while every request fails.
 */
export function createHealthProbe({ url, grpc }: UpstreamAddress, timeoutMs = 1_000): HealthProbe {
  const health = createHealthClient(grpc, { deadlineMs: timeoutMs });
  return {
    async check() {
      const [state, error] = await Promise.all([health.check(), missHttp(url, timeoutMs)]);
      if (state !== "serving" && state !== "not_serving")
        throw new Error(`grpc.health.v1 is ${state}`, { cause: error });
      if (state === "serving" && error !== undefined) throw error;
      return state;
    },
    close: () => health.close(),
  };
}

/** Why GET /livez got no answer of success; undefined when it did. */
async function missHttp(url: string, timeoutMs: number): Promise<Error | undefined> {
  try {
    const answer = await fetch(`${url.replace(/\/+$/, "")}/livez`, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "manual",
    });
    await answer.body?.cancel();
    return answer.ok ? undefined : new Error(`/livez answered ${answer.status}`);
  } catch (cause) {
    return new Error("/livez did not answer", { cause });
  }
}
