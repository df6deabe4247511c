import { LRUCache } from "lru-cache";
import { put, type Store } from "../../shared/storage/port.ts";
import { holderRequests, type TokenRow } from "../store/token-collections.ts";

/** A token is asked for again after this time: the ingest may have failed to read it. */
const AGAIN_MS = 600_000;
const MAX_REMEMBERED = 10_000;

/** Asks the ingest for all holders of a token, by the store that they share, where this process may write it. Does not wait. */
export function createHolderRequests(
  store: Store,
  { onFailure }: { onFailure: (error: unknown) => void },
): (token: TokenRow) => void {
  const asked = new LRUCache<string, true>({ max: MAX_REMEMBERED, ttl: AGAIN_MS });
  return ({ mint, supply, wholeSlot }) => {
    if (store.isReadOnly || wholeSlot !== null || supply === 0n || asked.has(mint)) return;
    asked.set(mint, true);
    const time = Math.floor(Date.now() / 1000);
    store.write([put(holderRequests, [{ mint, time }])]).catch(onFailure);
  };
}
