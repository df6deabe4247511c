import type { Gate, RequestContext } from "../request/context.ts";
import {
  authorize,
  type KeyAuthenticator,
  type KeyHolder,
  rejectSuspended,
} from "./keys/key-authenticator.ts";
import type { AddressLimits } from "./limits/address-limits.ts";

interface KeyGateOptions {
  readonly check: KeyAuthenticator;
  readonly addresses: Pick<AddressLimits, "admitLookup">;
  /** Counts a request against its holder's limits; throws `rate_limited`. */
  readonly admit: (holder: KeyHolder, context: RequestContext) => void | Promise<void>;
}

/**
 * Lets requests pass whose key has the endpoint's scope and is within its limits. Reads the key from X-API-KEY only: a key
 * in a URL would end up in histories and logs. Node joins a header that is sent twice, and the checksum refuses that.
 */
export function createKeyGate({ check, addresses, admit }: KeyGateOptions): Gate {
  const pass = (holder: KeyHolder, context: RequestContext): void | Promise<void> => {
    // Before any refusal, so that the log names the key.
    context.fields.key = holder.id;
    rejectSuspended(holder);
    const admitted = admit(holder, context);
    // After the limits, because from here on every response counts against the key.
    if (admitted instanceof Promise) return admitted.then(() => authorize(holder, context.endpoint.family));
    authorize(holder, context.endpoint.family);
  };

  const authenticateAndPass = async (sent: string | undefined, context: RequestContext): Promise<void> => {
    const { req, res } = context;
    const holder = await check(sent, { beforeLookup: () => addresses.admitLookup(req, res) });
    await pass(holder, context);
  };

  return (context) => {
    const header = context.req.headers["x-api-key"];
    const sent = typeof header === "string" ? header : undefined;
    const known = sent === undefined ? undefined : check.cached(sent);
    return known === undefined ? authenticateAndPass(sent, context) : pass(known, context);
  };
}
