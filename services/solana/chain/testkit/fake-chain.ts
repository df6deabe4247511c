import { encodeBase58 } from "../../../shared/contract/base58.ts";
import type { RpcOptions } from "../../../shared/rpc-client/client.ts";
import type { SourceEvent } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import type { RpcCall } from "../../../shared/rpc-client/endpoint/transport.ts";
import {
  createFakeClock,
  createFakeNetwork,
  type FakeClock,
  type FakeNetwork,
  type FakeResponse,
  RpcFailure,
} from "../../../shared/rpc-client/testkit/fake-network.ts";
import type { SolanaBlock, SolanaSource, SolanaTransaction } from "../port.ts";
import { createSolanaSource } from "../source.ts";

/** A chain of empty or nearly empty blocks; hashes name slot and fork. */
export interface FakeChain {
  /** Ascending. */
  readonly blocks: readonly SolanaBlock[];
  readonly genesis: string;
  readonly firstAvailable: number;
  /** Slots behind the last block that count as finalized. */
  readonly lag: number;
}

/** An address, hash or (64 bytes) signature that names numbers. */
export function fakeKey(kind: number, number: number, length = 32): string {
  const bytes = new Uint8Array(length).fill(1);
  new DataView(bytes.buffer).setUint32(0, 0x10000000 + kind);
  new DataView(bytes.buffer).setUint32(4, number);
  return encodeBase58(bytes);
}

export function fakeTransaction(number: number): SolanaTransaction {
  return {
    transaction: {
      signatures: [fakeKey(7, number, 64)],
      message: {
        accountKeys: [fakeKey(1, number), fakeKey(2, 0)],
        instructions: [{ programIdIndex: 1, accounts: [0], data: "3Bxs4" }],
      },
    },
    meta: { err: null, fee: 5000, preBalances: [10_000, 1], postBalances: [5_000, 1] },
    version: "legacy",
    transactionIndex: 0,
  };
}

/** Blocks in the given slots, each the child of the one before it. */
export function fakeBlocks(
  slots: readonly number[],
  { fork = 0, parent }: { fork?: number; parent?: SolanaBlock } = {},
): SolanaBlock[] {
  const blocks: SolanaBlock[] = [];
  for (const slot of slots) {
    const before: Pick<SolanaBlock, "slot" | "blockhash"> = blocks[blocks.length - 1] ??
      parent ?? { slot: slot - 1, blockhash: fakeKey(3, 0) };
    blocks.push({
      slot,
      blockhash: fakeKey(100 + fork, slot),
      previousBlockhash: before.blockhash,
      parentSlot: before.slot,
      blockTime: 1_700_000_000 + Math.floor(slot * 0.4),
      transactions: [fakeTransaction(slot)],
    });
  }
  return blocks;
}

export function fakeChain(blocks: readonly SolanaBlock[], more: Partial<FakeChain> = {}): FakeChain {
  return { blocks, genesis: fakeKey(9, 9), firstAvailable: blocks[0]?.slot ?? 0, lag: 0, ...more };
}

/** An honest node's response to one call. */
export function answerHonestly(chain: FakeChain, { method, params }: RpcCall): unknown {
  const commitment = (params.at(-1) as { commitment?: string } | undefined)?.commitment;
  const last = chain.blocks.at(-1)?.slot ?? 0;
  const head = Math.max(0, commitment === "finalized" ? last - chain.lag : last);
  const there = chain.blocks.filter((block) => block.slot >= chain.firstAvailable && block.slot <= head);
  const [first, second] = params as [number, number];
  if (method === "getGenesisHash") return chain.genesis;
  if (method === "getSlot") return there.at(-1)?.slot ?? 0;
  if (method === "getFirstAvailableBlock") return chain.firstAvailable;
  if (method === "getBlocks")
    return there.map(({ slot }) => slot).filter((slot) => slot >= first && slot <= second);
  if (method !== "getBlock") return new RpcFailure(-32601, "Method not found");
  const block = there.find(({ slot }) => slot === first);
  if (block !== undefined) {
    const { slot: _, transactions, ...rest } = block;
    const isFull = (params[1] as { transactionDetails?: string }).transactionDetails === "full";
    return { ...rest, blockHeight: first, ...(isFull && { transactions }) };
  }
  if (first < chain.firstAvailable)
    return new RpcFailure(
      -32001,
      `Block ${first} cleaned up, does not exist on node. First available block: ${chain.firstAvailable}`,
    );
  return first > head
    ? new RpcFailure(-32004, `Block not available for slot ${first}`)
    : new RpcFailure(-32007, `Slot ${first} was skipped, or missing due to ledger jump to recent snapshot`);
}

export type Handler = (calls: readonly RpcCall[]) => FakeResponse;

export function honest(chain: FakeChain | (() => FakeChain)): Handler {
  return (calls) => {
    const now = typeof chain === "function" ? chain() : chain;
    return { results: calls.map((call) => answerHonestly(now, call)) };
  };
}

/** A node without the blocks of some slots, in every response; what it returns of others is true. */
export function withholding(chain: FakeChain, hidden: readonly number[]): Handler {
  return honest({ ...chain, blocks: chain.blocks.filter(({ slot }) => !hidden.includes(slot)) });
}

export interface SourceSetup {
  readonly clock: FakeClock;
  readonly network: FakeNetwork;
  readonly events: SourceEvent[];
  readonly lines: string[];
  readonly source: SolanaSource;
}

/** A source over fake endpoints, in the order of the hosts. */
export function setUpSource(
  hosts: Record<string, Handler>,
  { options, genesisHash }: { options?: RpcOptions; genesisHash?: string } = {},
): SourceSetup {
  const clock = createFakeClock();
  const network = createFakeNetwork(clock, hosts);
  const events: SourceEvent[] = [];
  const lines: string[] = [];
  const source = createSolanaSource({
    urls: Object.keys(hosts).map((host) => `https://${host}/key-0123456789`),
    log: (message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`),
    onEvent: (event) => events.push(event),
    options: { clock, fetch: network.fetch, socketClass: undefined, ...options },
    ...(genesisHash !== undefined && { genesisHash }),
  });
  return { clock, network, events, lines, source };
}

/** The error a promise ends with. */
export async function catchError(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("It did not fail");
}
