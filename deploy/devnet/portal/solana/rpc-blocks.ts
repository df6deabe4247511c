import { createRpc } from "../../node/rpc.ts";
import type { BlockId, PortalBlocks } from "../block.ts";
import { type RawBlock, toPortalBlock } from "./to-portal-block.ts";

/** Blocks fetched at once. */
const AT_ONCE = 8;

/** The blocks of a Solana node: what a portal's own writers make of them. */
export function solanaRpcBlocks(url: string): PortalBlocks {
  const rpc = createRpc(url);
  const getBlock = <T>(slot: number, transactionDetails: "full" | "none") =>
    rpc.call<T | null>("getBlock", [
      slot,
      {
        encoding: "json",
        transactionDetails,
        maxSupportedTransactionVersion: 0,
        rewards: false,
        commitment: "confirmed",
      },
    ]);

  async function headOf(commitment: "confirmed" | "finalized"): Promise<BlockId | undefined> {
    const slot = await rpc.call<number>("getSlot", [{ commitment }]);
    const block = slot === 0 ? null : await getBlock<RawBlock>(slot, "none");
    return block === null ? undefined : { number: slot, hash: block.blockhash };
  }

  return {
    head: () => headOf("confirmed"),
    finalized: () => headOf("finalized"),
    async *read(from, to) {
      const slots = await rpc.call<number[]>("getBlocks", [from, to, { commitment: "confirmed" }]);
      let parent: string | undefined;
      for (let start = 0; start < slots.length; start += AT_ONCE) {
        const some = slots.slice(start, start + AT_ONCE);
        const raws = await Promise.all(some.map((slot) => getBlock<RawBlock>(slot, "full")));
        for (const [i, raw] of raws.entries()) {
          // Replaced meanwhile: what was served is one branch, what follows would be another.
          if (raw === null || (parent !== undefined && raw.previousBlockhash !== parent)) return;
          yield toPortalBlock(some[i] as number, raw);
          parent = raw.blockhash;
        }
      }
    },
  };
}
