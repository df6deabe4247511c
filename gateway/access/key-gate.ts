import type { Gate } from "../passage.ts";
import { authorize, type KeyCheck } from "./key-check.ts";

/**
 * Lets holders of a key with the endpoint's scope pass. The key is read from X-API-KEY only: a key in a URL would end
 * up in histories and logs. Sent twice, Node joins the values and the checksum refuses the result.
 */
export function createKeyGate(check: KeyCheck): Gate {
  return async ({ req, endpoint, fields }) => {
    const sent = req.headers["x-api-key"];
    const holder = await check(typeof sent === "string" ? sent : undefined);
    // Before the scope is looked at: the log of a refusal should say whose it was.
    fields.key = holder.id;
    authorize(holder, endpoint.family);
  };
}
