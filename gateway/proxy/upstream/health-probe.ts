import { createHealthClient } from "../../../services/shared/grpc/client.ts";
import { bearer, TOKEN_HEADER } from "../../../services/shared/service/service-token.ts";
import type { UpstreamAddress } from "../../config.ts";
import { TokenRefused } from "../../request/errors.ts";
import type { HealthProbe } from "./health-poll.ts";

export interface HealthProbeOptions {
  readonly timeoutMs?: number | undefined;
  readonly serviceToken?: string | undefined;
  /** Called with whether the replica refuses the token, at each probe that its HTTP port answers. */
  readonly onToken?: ((isRefused: boolean) => void) | undefined;
}

/**
 * Probes one replica on both its faces: grpc.health.v1 says whether it can answer, and its HTTP port must be there,
 * or a wrong URL beside a right gRPC address would look healthy while every request fails. Both answer
 * without a token; the header WWW-Authenticate shows that the service would refuse this gateway's requests.
 */
export function createHealthProbe(
  { url, grpc }: UpstreamAddress,
  { timeoutMs = 1_000, serviceToken, onToken }: HealthProbeOptions = {},
): HealthProbe {
  const health = createHealthClient(grpc, { deadlineMs: timeoutMs });
  return {
    async check() {
      const [state, error] = await Promise.all([
        health.check(),
        missHttp(url, { timeoutMs, serviceToken, onToken }),
      ]);
      if (state !== "serving" && state !== "not_serving")
        throw new Error(`grpc.health.v1 is ${state}`, { cause: error });
      if (state === "serving" && error !== undefined) throw error;
      return state;
    },
    close: () => health.close(),
  };
}

/**
 * Why GET /livez got no answer of success; undefined when it did. Without an answer it says nothing of the token: on a busy
 * machine a probe may miss its deadline between two that are refused.
 */
async function missHttp(
  url: string,
  { timeoutMs, serviceToken, onToken }: HealthProbeOptions & { readonly timeoutMs: number },
): Promise<Error | undefined> {
  try {
    const answer = await fetch(`${url.replace(/\/+$/, "")}/livez`, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "manual",
      headers: serviceToken === undefined ? {} : { [TOKEN_HEADER]: bearer(serviceToken) },
    });
    await answer.body?.cancel();
    const isRefused = answer.headers.has("www-authenticate");
    onToken?.(isRefused);
    if (isRefused) return new TokenRefused("the replica");
    return answer.ok ? undefined : new Error(`/livez answered ${answer.status}`);
  } catch (cause) {
    return new Error("/livez did not answer", { cause });
  }
}
