import { isDeepStrictEqual } from "node:util";
import { ReorgDetected } from "../../../shared/chain-errors.ts";
import type { SourceLog } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import { type SlotRange, type SolanaSource, SolanaUpstreamError } from "../../chain/port.ts";
import type { BlockStream } from "./block-stream.ts";
import type { BlockReader, DecodedBlock } from "./decoded-block.ts";

/** A streamed block in so many is compared with getBlock's, which is 1.6 % of what all of them would cost. */
const PROOF_EVERY = 64;

/** A streamed block was not what getBlock says: those from `fromSlot` on were not compared, and are to be read again. */
export class StreamContradicted extends ReorgDetected {
  readonly fromSlot: number;
  constructor(message: string, fromSlot: number) {
    super(message);
    this.fromSlot = fromSlot;
  }
}

export interface StreamedReaderOptions {
  readonly stream: Pick<BlockStream, "take" | "takeLate" | "setAside" | "follow">;
  /** Reads whole blocks by JSON-RPC. */
  readonly reader: BlockReader;
  readonly source: Pick<SolanaSource, "link">;
  readonly log: SourceLog;
  /** Default 64. */
  readonly proofEvery?: number;
}

/**
 * Reads from the stream, and by JSON-RPC what the stream does not have. The stream's server is not trusted: its blocks
 * link to one another and to the index, the last one of a final range is the cluster's by hash, and one in PROOF_EVERY
 * is read by getBlock too and has to give the same rows. That takes as long as it takes, beside the stream; where the
 * rows differ, the next reading throws StreamContradicted.
 */
export function createStreamedReader(options: StreamedReaderOptions): BlockReader {
  const { stream, reader, source, log, proofEvery = PROOF_EVERY } = options;
  let unproven = 0;
  let isProving = false;
  /** The last block that was compared; before the first one, the slot before the stream. */
  let provenSlot: number | undefined;
  let contradiction: StreamContradicted | undefined;

  async function isFinal({ slot, blockhash }: DecodedBlock): Promise<boolean> {
    const link = await source.link(slot, "finalized");
    return link?.blockhash === blockhash;
  }

  async function prove(block: DecodedBlock, { commitment }: SlotRange): Promise<void> {
    const { slot } = block;
    const read = await reader.blocks({ fromSlot: slot, toSlot: slot, commitment });
    const whole = read.find((each) => each.slot === slot);
    // Another fork's block says nothing of this one.
    if (whole === undefined || whole.blockhash !== block.blockhash) return;
    if (isDeepStrictEqual(whole.transactions, block.transactions)) {
      provenSlot = Math.max(slot, provenSlot ?? 0);
      return;
    }
    const fromSlot = (provenSlot ?? slot - 1) + 1;
    stream.setAside();
    provenSlot = undefined;
    log("the stream's block gives other rows than getBlock's: the stream is set aside", { slot, fromSlot });
    contradiction = new StreamContradicted(
      `The gRPC stream's block of slot ${slot} gives other rows than getBlock's.`,
      fromSlot,
    );
  }

  /** Beside the stream: rows do not wait for it. */
  function proveSome(blocks: readonly DecodedBlock[], range: SlotRange): void {
    const [first] = blocks;
    if (first === undefined) return;
    provenSlot ??= first.slot - 1;
    unproven += blocks.length;
    const last = blocks.at(-1);
    if (unproven < proofEvery || isProving || last === undefined) return;
    unproven = 0;
    isProving = true;
    prove(last, range)
      .catch((error: unknown) => {
        // Endpoints that are behind or down prove nothing; the next block is tried.
        unproven = proofEvery;
        if (!(error instanceof SolanaUpstreamError))
          log("a block could not be compared", { error: String(error) });
      })
      .finally(() => {
        isProving = false;
      });
  }

  return {
    async blocks(range) {
      const found = contradiction;
      contradiction = undefined;
      if (found !== undefined) throw found;
      const late = stream.takeLate();
      if (late !== undefined) {
        provenSlot = undefined;
        throw new StreamContradicted(
          `A transaction of slot ${late} came after its block was streamed.`,
          late,
        );
      }
      const streamed = await stream.take(range);
      if (streamed === undefined) return reader.blocks(range);
      const last = streamed.at(-1);
      if (last !== undefined && range.commitment === "finalized" && !(await isFinal(last)))
        return reader.blocks(range);
      proveSome(streamed, range);
      return streamed;
    },
    follow: (fromSlot) => stream.follow(fromSlot),
    distrust: () => stream.setAside(),
  };
}
