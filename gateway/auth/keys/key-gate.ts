import type { Gate, RequestContext } from "../../request/context.ts";
import type { AddressLimits } from "../limits/address-limits.ts";
import { authorize, type KeyCheck, type KeyHolder, refuseSuspended } from "./key-check.ts";

export interface KeyGateOptions {
  readonly check: KeyCheck;
  readonly addresses: Pick<AddressLimits, "admitLookup">;
  /** Counts a request of a holder against its limits; throws `rate_limited`. */
  readonly admit: (holder: KeyHolder, passage: RequestContext) => void | Promise<void>;
}

/**
 * Lets holders of a key with the endpoint's scope pass, as often as their limits allow. The key is read from X-API-KEY
 * only: a key in a URL would end up in histories and logs. Sent twice, Node joins the values and the checksum refuses
 * the result.
 */
export function createKeyGate({ check, addresses, admit }: KeyGateOptions): Gate {
  const pass = (holder: KeyHolder, passage: RequestContext): void | Promise<void> => {
    // Before anything is refused: the log should say whose it was.
    passage.fields.key = holder.id;
    refuseSuspended(holder);
    const admitted = admit(holder, passage);
    // After the limits, since a refusal is the key's own, as any answer from here on.
    if (admitted instanceof Promise) return admitted.then(() => authorize(holder, passage.endpoint.family));
    authorize(holder, passage.endpoint.family);
  };

  const ask = async (sent: string | undefined, passage: RequestContext): Promise<void> => {
    const { req, res } = passage;
    const holder = await check(sent, { beforeLookup: () => addresses.admitLookup(req, res) });
    await pass(holder, passage);
  };

  return (passage) => {
    const header = passage.req.headers["x-api-key"];
    const sent = typeof header === "string" ? header : undefined;
    const known = sent === undefined ? undefined : check.now(sent);
    return known === undefined ? ask(sent, passage) : pass(known, passage);
  };
}
