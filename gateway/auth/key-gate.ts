import type { Gate, RequestContext } from "../request/context.ts";
import {
  authorize,
  type KeyAuthenticator,
  type KeyHolder,
  rejectSuspended,
} from "./keys/key-authenticator.ts";
import type { AddressLimits } from "./limits/address-limits.ts";

export interface KeyGateOptions {
  readonly check: KeyAuthenticator;
  readonly addresses: Pick<AddressLimits, "admitLookup">;
  /** Counts a request of a holder against its limits; throws `rate_limited`. */
  readonly admit: (holder: KeyHolder, context: RequestContext) => void | Promise<void>;
}

/**
 * Lets holders of a key with the endpoint's scope pass, as often as their limits allow. The key is read from X-API-KEY
 * only: a key in a URL would end up in histories and logs. Sent twice, Node joins the values and the checksum refuses
 * the result.
 */
export function createKeyGate({ check, addresses, admit }: KeyGateOptions): Gate {
  const pass = (holder: KeyHolder, context: RequestContext): void | Promise<void> => {
    // Before anything is refused: the log should say whose it was.
    context.fields.key = holder.id;
    rejectSuspended(holder);
    const admitted = admit(holder, context);
    // After the limits, since a refusal is the key's own, as any answer from here on.
    if (admitted instanceof Promise) return admitted.then(() => authorize(holder, context.endpoint.family));
    authorize(holder, context.endpoint.family);
  };

  const ask = async (sent: string | undefined, context: RequestContext): Promise<void> => {
    const { req, res } = context;
    const holder = await check(sent, { beforeLookup: () => addresses.admitLookup(req, res) });
    await pass(holder, context);
  };

  return (context) => {
    const header = context.req.headers["x-api-key"];
    const sent = typeof header === "string" ? header : undefined;
    const known = sent === undefined ? undefined : check.cached(sent);
    return known === undefined ? ask(sent, context) : pass(known, context);
  };
}
