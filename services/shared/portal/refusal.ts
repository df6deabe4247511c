import type { Clock } from "../rpc-client/endpoint/clock.ts";
import type { Exchange } from "./exchange.ts";
import { judgeAnswer, type Passing } from "./verdict.ts";
import { readSmallBody } from "./within.ts";

/** What an answer that is not 200 says to do. Throws PortalFailure or PortalFork where there is nothing to do. */
export async function readRefusal(
  response: Response,
  { exchange, clock, ms, signal }: { exchange: Exchange; clock: Clock; ms: number; signal: AbortSignal },
): Promise<Passing> {
  const verdict = judgeAnswer({
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: exchange.redact(await readSmallBody(response, { clock, ms, signal })),
    wallNowMs: clock.wallNow(),
  });
  if (verdict.kind === "fatal") throw verdict.error;
  return verdict;
}
