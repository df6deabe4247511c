import type { HistoryPart } from "../../../shared/evm/port.ts";
import { type CreatedPool, toCreatedPool } from "./block-batch.ts";
import type { Emitters } from "./emitters.ts";

/** The pools that a part of a history creates. Its blocks are not looked at where no factory has a log among them. */
export function listCreatedPools(
  part: HistoryPart,
  emitters: Pick<Emitters, "isFactory" | "listCreated">,
): CreatedPool[] {
  if (part.emitters?.some((address) => emitters.isFactory(address)) === false) return [];
  return part.blocks.flatMap((block) =>
    emitters.listCreated(block.logs).map((pool) => toCreatedPool(pool, block)),
  );
}
