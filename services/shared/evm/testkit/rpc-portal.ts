import { toQuantity } from "../hex.ts";
import type { Hex, RawLog } from "../port.ts";
import { type ChainPortal, startChainPortal } from "./chain-portal.ts";
import type { PortalChainBlock } from "./portal-chain.ts";

type Rpc = <T>(method: string, params: readonly unknown[]) => Promise<T>;

/** A portal in front of a node, for tests: what both say is the same. */
export async function startRpcPortal(rpc: Rpc): Promise<ChainPortal> {
  const readBlock = async (number: number): Promise<PortalChainBlock> => {
    const [block, receipts] = await Promise.all([
      rpc<Record<string, unknown>>("eth_getBlockByNumber", [toQuantity(number), false]),
      rpc<RpcReceipt[]>("eth_getBlockReceipts", [toQuantity(number)]),
    ]);
    const header = { ...block, number, hash: block.hash as Hex, timestamp: Number(block.timestamp) };
    return {
      header,
      receipts: [],
      logs: receipts.flatMap(({ logs }) => logs.map(toLog)),
      transactions: receipts.map(({ transactionIndex, transactionHash, from }) => ({
        transactionIndex: Number(transactionIndex),
        hash: transactionHash,
        from,
      })),
    };
  };
  return startChainPortal(async (from, to) => {
    const blocks: PortalChainBlock[] = [];
    for (let number = from; number <= to; number++) blocks.push(await readBlock(number));
    return blocks;
  });
}

interface RpcReceipt {
  readonly transactionIndex: Hex;
  readonly transactionHash: Hex;
  readonly from: Hex;
  readonly logs: readonly RpcLog[];
}

type RpcLog = Record<"address" | "data" | "blockHash" | "transactionHash", Hex> & {
  readonly topics: readonly Hex[];
} & Record<"blockNumber" | "transactionIndex" | "logIndex", Hex>;

function toLog(log: RpcLog): RawLog {
  return {
    ...log,
    blockNumber: Number(log.blockNumber),
    transactionIndex: Number(log.transactionIndex),
    logIndex: Number(log.logIndex),
  };
}
