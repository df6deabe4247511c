import { createRpc, type Rpc } from "../node/rpc.ts";
import type { BlockId, PortalBlock, PortalBlocks, PortalItem } from "./block.ts";
import { FIELDS, type FieldTable, NUMBERS } from "./fields.ts";

/** Blocks fetched in one request. */
const AT_ONCE = 50;

type Raw = Readonly<Record<string, unknown>>;

/** The blocks of a node, with its receipts: what a portal's own writers make of them. */
export function rpcBlocks(url: string): PortalBlocks {
  const rpc = createRpc(url);
  return {
    head: () => blockIdOf(rpc, "latest"),
    finalized: () => blockIdOf(rpc, "finalized"),
    async *read(from, to) {
      let parent: string | undefined;
      for (let start = from; start <= to; start += AT_ONCE) {
        for (const block of await fetchBlocks(rpc, start, Math.min(to, start + AT_ONCE - 1))) {
          // Replaced meanwhile: what was served is one branch, what follows would be another.
          if (block === undefined || (parent !== undefined && block.header.parentHash !== parent)) return;
          yield block;
          parent = block.header.hash;
        }
      }
    },
  };
}

async function blockIdOf(rpc: Rpc, tag: string): Promise<BlockId | undefined> {
  const block = await rpc.call<{ number: string; hash: string } | null>("eth_getBlockByNumber", [tag, false]);
  return block === null ? undefined : { number: Number(block.number), hash: block.hash.toLowerCase() };
}

/** Undefined where the node has no such block, or its receipts are those of another one. */
async function fetchBlocks(rpc: Rpc, from: number, to: number): Promise<(PortalBlock | undefined)[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, i) => `0x${(from + i).toString(16)}`);
  const answers = await rpc.batch<unknown>([
    ...numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [number, true] })),
    ...numbers.map((number) => ({ method: "eth_getBlockReceipts", params: [number] })),
  ]);
  return numbers.map((_, i) => toBlock(answers[i], answers[numbers.length + i]));
}

/** A block and its receipts, as JSON-RPC has them, under the portal's names. */
export function toBlock(block: unknown, receipts: unknown): PortalBlock | undefined {
  if (block === null || !Array.isArray(receipts)) return undefined;
  const raw = block as Raw;
  if (receipts.some(({ blockHash }) => blockHash !== raw.hash)) return undefined;
  const transactions = (raw.transactions as readonly Raw[]).map((each, i) => {
    const input = String(each.input ?? "0x").toLowerCase();
    // The receipt comes last: its type and index are the same, and gas used, status and fees are only there.
    const sighash = input.length >= 10 ? input.slice(0, 10) : "0x";
    return convert("transaction", { ...each, ...(receipts[i] as Raw), sighash, hash: each.hash });
  });
  const logs = receipts.flatMap((receipt) =>
    (receipt.logs as readonly Raw[]).map((log) => convert("log", log)),
  );
  return { header: convert("block", raw) as PortalBlock["header"], transactions, logs };
}

function convert(table: FieldTable, raw: Raw): PortalItem {
  const item: Record<string, unknown> = {};
  for (const name of FIELDS[table]) {
    const value = raw[name];
    if (value === undefined || value === null) continue;
    item[name] = NUMBERS[table].has(name) ? Number(value) : lowered(value);
  }
  return item;
}

function lowered(value: unknown): unknown {
  if (typeof value === "string") return value.toLowerCase();
  if (Array.isArray(value)) return value.map(lowered);
  return value;
}
