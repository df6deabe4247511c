import { isDeepStrictEqual } from "node:util";
import type { PortalClient } from "../../../shared/portal/client.ts";
import { PortalFailure, PortalFork } from "../../../shared/portal/failures.ts";
import type { PortalLine } from "../../../shared/portal/stream.ts";
import type { SourceLog } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import type { SlotRange, SolanaSource } from "../../chain/port.ts";
import { MalformedLineError, toSolanaBlock } from "../../chain/portal/to-block.ts";
import { type BlockReader, type DecodedBlock, toDecodedBlock } from "./decoded-block.ts";

export interface PortalHistoryOptions {
  readonly client: PortalClient;
  /** See toPortalQuery. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly withHolders: boolean;
  /** Reads whole blocks by JSON-RPC: what the portal says is compared with them. */
  readonly whole: BlockReader;
  readonly source: Pick<SolanaSource, "head" | "link">;
  readonly log: SourceLog;
  /** A block in so many is compared; default 500. */
  readonly proofEvery?: number;
  /** How long the portal is not asked after it failed; default 300,000. */
  readonly asideMs?: number;
  /** Blocks that are proven and used together at most; default 64. */
  readonly pieceBlocks?: number;
  /** Default Math.random. */
  readonly random?: () => number;
}

/** Transactions that are proven at once: some tens of megabytes decoded. */
const PIECE_TRANSACTIONS = 4_000;
/** One block of each of the first pieces is compared: who lies always is found before anything is used. */
const FIRST_PIECES = 4;
/** How long the last final slot counts as such. */
const FINAL_FOR_MS = 30_000;

interface Bounds {
  readonly first: number;
  readonly last: number;
  readonly untilMs: number;
}

/** One stream of the portal, and the lines of it that came and were not looked at. */
interface Flow {
  readonly parts: AsyncGenerator<readonly PortalLine[]>;
  readonly stop: AbortController;
  lines: readonly PortalLine[];
  at: number;
}

/**
 * Final blocks from an SQD Portal, read ahead of the ranges that are taken. Every block links to the one before it; the
 * last one of each piece is the cluster's by hash; a sample is compared with getBlock. Nothing of a piece is used before.
 */
export class PortalHistory {
  readonly #options: PortalHistoryOptions;
  #flow: Flow | undefined;
  /** Proven, ascending, each the parent of the next. */
  #blocks: DecodedBlock[] = [];
  /** Slots from `#from` to `#readTo` are in `#blocks`, or were skipped. */
  #from = 0;
  #readTo = -1;
  #bounds: Bounds | undefined;
  #asideUntilMs = 0;
  #pieces = 0;
  #blocksSinceProof = 0;
  /** Slots that were used since a block was last compared. */
  #uncompared: { from: number; to: number } | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: PortalHistoryOptions) {
    this.#options = options;
  }

  /** The blocks of a final range; undefined where the portal does not have them, or is set aside. */
  take(range: SlotRange): Promise<DecodedBlock[] | undefined> {
    const taken = this.#turn.then(() => this.#take(range));
    this.#turn = taken.catch(() => {});
    return taken;
  }

  /** Ends the stream and forgets its blocks; the next range opens another. */
  stop(): void {
    this.#flow?.stop.abort();
    this.#flow = undefined;
    this.#blocks = [];
    this.#from = 0;
    this.#readTo = -1;
  }

  async #take(range: SlotRange): Promise<DecodedBlock[] | undefined> {
    if (range.commitment !== "finalized" || performance.now() < this.#asideUntilMs) return undefined;
    try {
      const { first, last } = await this.#findBounds(range.toSlot);
      if (range.fromSlot < first || range.toSlot > last) return undefined;
      return await this.#read(range);
    } catch (error) {
      this.stop();
      if (!isOfPortal(error)) throw error;
      this.#setAside(error.message);
      return undefined;
    }
  }

  /** What the portal has, up to the last slot that both call final: one with a block on both sides. */
  async #findBounds(wanted: number): Promise<Bounds> {
    const { client, source } = this.#options;
    const known = this.#bounds;
    if (known !== undefined && (wanted <= known.last || performance.now() < known.untilMs)) return known;
    const { signal } = new AbortController();
    const first = known?.first ?? (await client.metadata(signal)).startBlock;
    const [portal, { slot }] = [await client.finalizedHead(signal), await source.head("finalized")];
    const last = Math.min(portal?.number ?? -1, slot);
    this.#bounds = { first, last, untilMs: performance.now() + FINAL_FOR_MS };
    return this.#bounds;
  }

  async #read({ fromSlot, toSlot }: SlotRange): Promise<DecodedBlock[]> {
    // Behind what is kept, or ahead of it: after a rollback, or where ranges were read by JSON-RPC between.
    if (fromSlot < this.#from || fromSlot > this.#readTo + 1) {
      this.stop();
      this.#from = fromSlot;
      this.#readTo = fromSlot - 1;
    }
    while (this.#readTo < toSlot) {
      this.#flow ??= this.#open(this.#readTo + 1);
      if (!(await this.#readPiece(this.#flow))) this.#flow = undefined;
    }
    this.#blocks = this.#blocks.filter(({ slot }) => slot >= fromSlot);
    this.#from = fromSlot;
    this.#uncompared = { from: Math.min(fromSlot, this.#uncompared?.from ?? fromSlot), to: toSlot };
    return this.#blocks.filter(({ slot }) => slot <= toSlot);
  }

  #open(fromBlock: number): Flow {
    const { client, query } = this.#options;
    const stop = new AbortController();
    const toBlock = this.#bounds?.last ?? fromBlock;
    const parts = client.stream({ fromBlock, toBlock, query, signal: stop.signal });
    return { parts, stop, lines: [], at: 0 };
  }

  /** Adds the next blocks once they are proven; false at the end of the stream. */
  async #readPiece(flow: Flow): Promise<boolean> {
    const { pieceBlocks = 64 } = this.#options;
    const blocks: DecodedBlock[] = [];
    let transactions = 0;
    while (blocks.length < pieceBlocks && transactions < PIECE_TRANSACTIONS) {
      const line = flow.lines[flow.at++];
      if (line === undefined) {
        const next = await flow.parts.next();
        if (next.done === true) break;
        flow.lines = next.value;
        flow.at = 0;
        continue;
      }
      const block = await this.#decode(line);
      checkLink(blocks.at(-1) ?? this.#blocks.at(-1), block);
      transactions += block.transactionCount;
      blocks.push(block);
    }
    const last = blocks.at(-1);
    if (last === undefined) return false;
    await this.#prove(blocks);
    this.#blocks.push(...blocks);
    this.#readTo = last.slot;
    return true;
  }

  async #decode(line: PortalLine): Promise<DecodedBlock> {
    const { withHolders, whole } = this.#options;
    const block = toSolanaBlock(line);
    const { slot } = block;
    const decoded = toDecodedBlock(block, { withHolders });
    if (block.withoutLogs.length === 0) return decoded;
    // Events in the log are part of the rows: a portal drops logs that its parser does not understand.
    const [read] = await whole.blocks({ fromSlot: slot, toSlot: slot, commitment: "finalized" });
    return read ?? decoded;
  }

  async #prove(blocks: readonly DecodedBlock[]): Promise<void> {
    const { source, whole, proofEvery = 500, random = Math.random } = this.#options;
    const last = blocks.at(-1) as DecodedBlock;
    const link = await source.link(last.slot, "finalized");
    if (link?.blockhash !== last.blockhash)
      throw untrue(
        `slot ${last.slot} has block ${last.blockhash}, and ${link?.blockhash ?? "none"} by JSON-RPC`,
      );
    this.#blocksSinceProof += blocks.length;
    this.#pieces += 1;
    if (this.#pieces > FIRST_PIECES && this.#blocksSinceProof < proofEvery) return;
    // Which one it is cannot be foreseen.
    const sample = blocks[Math.floor(random() * blocks.length)] as DecodedBlock;
    const { slot } = sample;
    const [read] = await whole.blocks({ fromSlot: slot, toSlot: slot, commitment: "finalized" });
    const isEqual =
      read !== undefined &&
      read.blockhash === sample.blockhash &&
      read.blockTime === sample.blockTime &&
      isDeepStrictEqual(read.transactions, sample.transactions);
    if (!isEqual) throw untrue(`slot ${slot} gives other rows than getBlock's`);
    this.#blocksSinceProof = 0;
    this.#uncompared = undefined;
  }

  #setAside(reason: string): void {
    const { asideMs = 300_000, log, client } = this.#options;
    this.#asideUntilMs = performance.now() + asideMs;
    this.#pieces = 0;
    log("the portal is set aside: reading goes on by JSON-RPC", {
      chain: "solana",
      host: client.host,
      reason,
      seconds: Math.round(asideMs / 1_000),
      // A sample may show late what was untrue before.
      ...(this.#uncompared && { readFrom: this.#uncompared.from, readTo: this.#uncompared.to }),
    });
    this.#uncompared = undefined;
  }
}

function isOfPortal(error: unknown): error is Error {
  return error instanceof PortalFailure || error instanceof PortalFork || error instanceof MalformedLineError;
}

function untrue(message: string): PortalFailure {
  return new PortalFailure("untrue", message);
}

function checkLink(before: DecodedBlock | undefined, block: DecodedBlock): void {
  if (before === undefined) return;
  if (block.parentSlot !== before.slot || block.previousBlockhash !== before.blockhash)
    throw untrue(`slot ${block.slot} follows on slot ${block.parentSlot}, not on ${before.slot}'s block`);
}
