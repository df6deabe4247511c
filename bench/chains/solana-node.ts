/**
 * The node of a bench, as a process of its own: a cluster whose blocks are made before they are wanted, by JSON-RPC and by
 * Yellowstone's gRPC. Requests and replies are messages between processes.
 */
import { gzipSync } from "node:zlib";
import { createGenerator } from "../../deploy/devnet/solana/generator.ts";
import { type GeyserServer, startGeyserServer } from "../../deploy/devnet/solana/geyser/server.ts";
import { FINALITY_LAG } from "../../deploy/devnet/solana/server/live-chain.ts";
import {
  BlockBuffer,
  chainOfShelf,
  type NodeBlock,
  type NodeChain,
  toNodeBlock,
} from "../../deploy/devnet/solana/server/node-chain.ts";
import { type RpcServer, startRpcServer } from "../../deploy/devnet/solana/server/rpc-server.ts";

export interface NodeOptions {
  /** Final before the first full one, and with few transactions. */
  readonly smallSlots: number;
  readonly slots: number;
  readonly mix: { readonly transactions: number; readonly votes: number; readonly others: number };
}

export type NodeRequest =
  /** Serves the chain from its beginning, at new addresses: the small slots. */
  | { readonly kind: "restart" }
  /** The next slot is there. */
  | { readonly kind: "advance" }
  | { readonly kind: "sent" }
  /** Of how many bytes the last block is by getBlock. */
  | { readonly kind: "weigh" };

export interface NodeReady {
  readonly rpcUrl: string;
  readonly grpcUrl: string;
  readonly slot: number;
}

export interface Advanced {
  readonly slot: number;
  /** Unix milliseconds, with fractions: when the block's messages were about to be compressed and sent. */
  readonly readyMs: number;
}

export interface SentBytes {
  /** By gRPC, on the wire. */
  readonly stream: number;
  /** The same uncompressed. */
  readonly messages: number;
  /** By JSON-RPC, uncompressed. */
  readonly rpc: number;
}

/** Of a block as getBlock sends it. */
export interface Weight {
  readonly bytes: number;
  readonly gzipBytes: number;
}

export type NodeReply = NodeReady | Advanced | SentBytes | Weight;

const FIRST_SLOT = 300_000_000;
const START = 1_763_000_000;

if (process.send !== undefined) serve(JSON.parse(process.argv[2] ?? "{}") as NodeOptions);

function makeBlocks({ smallSlots, slots, mix }: NodeOptions): { blocks: NodeBlock[]; genesisHash: string } {
  const common = { seed: 7, time: START, slot: FIRST_SLOT - 1, skipped: 0 };
  const small = createGenerator({ ...common, transactions: 10 });
  const timeOf = (slot: number) => START + Math.floor((slot - FIRST_SLOT) * 0.4);
  const blocks: NodeBlock[] = [];
  const make = (generator: typeof small, end: number): void => {
    for (let slot = FIRST_SLOT + blocks.length; slot < end; slot++) {
      const made = generator.make(slot, { time: timeOf(slot) });
      if (made !== undefined) blocks.push(toNodeBlock(slot, made.raw));
    }
  };
  make(small, FIRST_SLOT + smallSlots);
  make(createGenerator({ ...common, ...mix, resume: small.state() }), FIRST_SLOT + smallSlots + slots);
  return { blocks, genesisHash: small.genesisHash };
}

/** Blocks that come when they are told to. */
function createRevealed(blocks: readonly NodeBlock[], genesisHash: string) {
  const shelf = new BlockBuffer(FINALITY_LAG);
  let next = 0;
  const chain = chainOfShelf(shelf, genesisHash);
  return { chain, reveal: () => shelf.add(blocks[next++] as NodeBlock) };
}

interface Served {
  readonly revealed: ReturnType<typeof createRevealed>;
  readonly node: RpcServer;
  readonly geyser: GeyserServer;
}

function serve(options: NodeOptions): void {
  const { blocks, genesisHash } = makeBlocks(options);
  let served: Served | undefined;
  let readyMs = 0;

  async function restart(): Promise<NodeReady> {
    await served?.geyser.close();
    await served?.node.close();
    const revealed = createRevealed(blocks, genesisHash);
    for (let i = 0; i < options.smallSlots; i++) revealed.reveal();
    const node = await startRpcServer(revealed.chain);
    const onReady = () => {
      readyMs = performance.timeOrigin + performance.now();
    };
    const geyser = await startGeyserServer(revealed.chain, { onReady });
    served = { revealed, node, geyser };
    return { rpcUrl: node.url, grpcUrl: geyser.url, slot: revealed.chain.head("confirmed") };
  }

  async function answer({ kind }: NodeRequest): Promise<NodeReply> {
    if (kind === "restart" || served === undefined) return restart();
    const { revealed, node, geyser } = served;
    if (kind === "sent")
      return { stream: geyser.sentBytes, messages: geyser.messageBytes, rpc: node.sentBytes };
    if (kind === "weigh") return weigh(revealed.chain);
    revealed.reveal();
    return { slot: revealed.chain.head("confirmed"), readyMs };
  }

  process.on("disconnect", () => process.exit());
  process.on(
    "message",
    (request: NodeRequest) => void answer(request).then((reply) => process.send?.(reply)),
  );
}

function weigh(chain: NodeChain): Weight {
  const { head = "{}", transactions = () => "[]" } = chain.block(chain.head("confirmed")) ?? {};
  const json = `{"jsonrpc":"2.0","id":1,"result":${head.slice(0, -1)},"transactions":${transactions()}}}`;
  return { bytes: Buffer.byteLength(json), gzipBytes: gzipSync(json).length };
}
