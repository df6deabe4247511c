import type { HandlerContext } from "../contract/endpoint.ts";

/** Of a request that nobody gives up. */
export function testContext(): HandlerContext {
  return { session: "test", signal: new AbortController().signal };
}
