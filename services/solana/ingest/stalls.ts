import { IngestStalled } from "../../shared/chain-errors.ts";
import type { Contradiction, SolanaSource } from "../chain/port.ts";

const REINDEX =
  "or, to delete the index and make a new one, stop the ingest and run: npm run reindex -- --chain solana";

/** No endpoint serves the indexed cluster. */
export function allContradict(contradictions: readonly Contradiction[]): IngestStalled {
  const named = contradictions.map(({ host, reason }) => `${host}: ${reason}`).join("; ");
  return new IngestStalled(
    `Every Solana endpoint contradicts the index (${named}). Nothing is deleted, and indexing waits: name an endpoint of the indexed cluster in SOLANA_RPC, ${REINDEX}`,
  );
}

/** No endpoint has the slots that come next any more. */
export function slotsPruned(from: number, to: number): IngestStalled {
  return new IngestStalled(
    `Slots ${from} to ${to} are still to be indexed, and no endpoint has them any more. Nothing is deleted, and indexing waits: name an endpoint in SOLANA_RPC that has them, ${REINDEX}`,
  );
}

/** Checks all endpoints against the anchored chain. Throws IngestStalled where every one contradicts it. */
export async function requireAgreement(source: Pick<SolanaSource, "recheck">): Promise<void> {
  const contradictions = await source.recheck();
  if (contradictions.length > 0) throw allContradict(contradictions);
}
