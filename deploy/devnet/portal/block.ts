/** An entry of a block, or its header: every field that a portal knows of it, under the portal's names. */
export type PortalItem = Readonly<Record<string, unknown>>;

/** A block with all that a portal can be asked for; each line of an answer is a part of one. Hex is lower-case. */
export interface PortalBlock {
  readonly header: PortalItem & {
    readonly number: number;
    readonly hash: string;
    readonly parentHash: string;
    /** Unix seconds. */
    readonly timestamp: number;
  };
  /** In order of `transactionIndex`. */
  readonly transactions: readonly PortalItem[];
  /** In order of `logIndex`. */
  readonly logs: readonly PortalItem[];
  /** Of Solana. */
  readonly instructions?: readonly PortalItem[];
  readonly balances?: readonly PortalItem[];
  readonly tokenBalances?: readonly PortalItem[];
}

export interface BlockId {
  readonly number: number;
  readonly hash: string;
}

/** What a portal serves from. */
export interface PortalBlocks {
  /** The newest block; undefined while there is none. */
  head(): Promise<BlockId | undefined>;
  /** The newest block that will not be replaced; absent = the head. */
  finalized?(): Promise<BlockId | undefined>;
  /** The blocks of the range (inclusive), ascending and linked. Ends early where the chain is replaced or ends meanwhile. */
  read(from: number, to: number): AsyncIterable<PortalBlock>;
}

/** One block, where there is one. */
export async function readBlock(blocks: PortalBlocks, number: number): Promise<PortalBlock | undefined> {
  for await (const block of blocks.read(number, number)) return block;
  return undefined;
}

/** Blocks that a function makes: synthetic ones. */
export function generatedBlocks(options: {
  readonly first: number;
  readonly last: number;
  readonly make: (number: number) => PortalBlock;
}): PortalBlocks {
  const { first, last, make } = options;
  return {
    head: async () => ({ number: last, hash: make(last).header.hash }),
    async *read(from, to) {
      for (let number = Math.max(first, from); number <= Math.min(last, to); number++) yield make(number);
    },
  };
}
