import type { BlockHeader, EvmSource, Hex } from "./port.ts";
import { UpstreamError } from "./port.ts";

/** What the chain keeps of a block. */
export interface ChainLink {
  readonly number: number;
  readonly hash: Hex;
  readonly parentHash: Hex;
}

export type ForkCheck =
  /** The source's chain contains our tip. */
  | { readonly kind: "same" }
  /** The source's head is below our tip and agrees with us there: the node is behind. */
  | { readonly kind: "behind"; readonly headNumber: number }
  /** Blocks above `common` are no longer on the chain; `depth` of ours are gone. */
  | { readonly kind: "fork"; readonly common: ChainLink; readonly depth: number };

/** The chain differs from ours in every block kept: only a fresh index from below can mend that. */
export class ForkTooDeep extends Error {
  override readonly name = "ForkTooDeep";
  readonly oldestKept: ChainLink;
  constructor(oldestKept: ChainLink) {
    super(
      `Cannot follow the fork: it is older than block ${oldestKept.number} (${oldestKept.hash}), the oldest kept`,
    );
    this.oldestKept = oldestKept;
  }
}

export interface HeaderChain {
  tip(): ChainLink | undefined;
  oldest(): ChainLink | undefined;
  at(number: number): ChainLink | undefined;
  /** Oldest first: what a restart hands to createHeaderChain. */
  links(): readonly ChainLink[];
  /** Whether the header is the child of the tip (any header is the first one's child). */
  fits(header: ChainLink): boolean;
  /** Adds the child of the tip; RangeError for anything else. */
  append(header: ChainLink): void;
  /** Forgets every block above the number. */
  rewindTo(number: number): void;
  /** Blocks above the finalized one are kept however many they are. */
  setFinalized(number: number): void;
  /**
   * Where the source's chain leaves ours. Throws ForkTooDeep where nothing is common, UpstreamError where the
   * source's answers do not form one chain (a reorg during the walk, or nodes that disagree): try again.
   */
  findFork(source: Pick<EvmSource, "head" | "headers">): Promise<ForkCheck>;
}

export interface HeaderChainOptions {
  /** Blocks kept at least; default and minimum 256. */
  readonly keep?: number;
  /** Links of an earlier run, oldest first. */
  readonly links?: readonly ChainLink[];
}

const MIN_KEPT = 256;
/** Headers fetched in the first step back; doubles with every step. */
const FIRST_STEP = 4;
const MAX_STEP = 64;

/** The newest blocks by parent hash: tells a reorganised chain from a node that is behind. */
export function createHeaderChain(options: HeaderChainOptions = {}): HeaderChain {
  const keep = Math.max(options.keep ?? MIN_KEPT, MIN_KEPT);
  let links: ChainLink[] = [];
  let finalized = Number.POSITIVE_INFINITY;

  const tip = () => links[links.length - 1];
  const at = (number: number) => links[number - (links[0]?.number ?? 0)];

  function fits(header: ChainLink): boolean {
    const parent = tip();
    return parent === undefined || (header.number === parent.number + 1 && header.parentHash === parent.hash);
  }

  function append({ number, hash, parentHash }: ChainLink): void {
    const parent = tip();
    if (!fits({ number, hash, parentHash })) {
      throw new RangeError(
        `Cannot append block ${number} (parent ${parentHash}) after block ${parent?.number} (${parent?.hash})`,
      );
    }
    links.push({ number, hash, parentHash });
    prune();
  }

  function prune(): void {
    const newest = tip()?.number ?? 0;
    const firstKept = Math.min(newest - keep + 1, finalized);
    const surplus = firstKept - (links[0]?.number ?? 0);
    // In slices: shifting one by one would move the whole list for every block.
    if (surplus >= MIN_KEPT) links = links.slice(surplus);
  }

  async function findFork(source: Pick<EvmSource, "head" | "headers">): Promise<ForkCheck> {
    const newest = tip();
    const oldest = links[0];
    if (newest === undefined || oldest === undefined) return { kind: "same" };
    const head = await source.head();
    const isKnown = head.number < oldest.number || at(head.number)?.hash === head.hash;
    if (head.number < newest.number && isKnown) return { kind: "behind", headNumber: head.number };
    let step = FIRST_STEP;
    let above: BlockHeader | undefined;
    for (
      let top = Math.min(newest.number, head.number);
      top >= oldest.number;
      step = Math.min(step * 2, MAX_STEP)
    ) {
      const bottom = Math.max(oldest.number, top - step + 1);
      const theirs = await fetchDown(source, { top, bottom });
      const common = findCommon(above === undefined ? theirs : [above, ...theirs]);
      if (common !== undefined) {
        return common.number === newest.number
          ? { kind: "same" }
          : { kind: "fork", common, depth: newest.number - common.number };
      }
      above = theirs[theirs.length - 1];
      top = bottom - 1;
    }
    throw new ForkTooDeep(oldest);
  }

  /** The first of the headers (newest first) that is ours too; UpstreamError where they do not link up. */
  function findCommon(theirs: readonly BlockHeader[]): ChainLink | undefined {
    for (const [i, header] of theirs.entries()) {
      const child = theirs[i - 1];
      if (child !== undefined && child.parentHash !== header.hash) {
        throw new UpstreamError(
          `blocks ${header.number} and ${child.number} of the source do not link up: its chain is changing`,
        );
      }
      const ours = at(header.number);
      if (ours?.hash === header.hash) return ours;
    }
    return undefined;
  }

  for (const link of options.links ?? []) append(link);
  return {
    tip,
    oldest: () => links[0],
    at,
    links: () => links.slice(),
    fits,
    append,
    rewindTo(number) {
      links = links.filter((link) => link.number <= number);
    },
    setFinalized(number) {
      finalized = number;
      prune();
    },
    findFork,
  };
}

/** Headers from top down to bottom; UpstreamError where the source lacks one below its own head. */
async function fetchDown(
  source: Pick<EvmSource, "headers">,
  { top, bottom }: { top: number; bottom: number },
) {
  const numbers = Array.from({ length: top - bottom + 1 }, (_, i) => top - i);
  const headers = await source.headers(numbers);
  return headers.map((header, i) => {
    if (header === null) throw new UpstreamError(`the source lacks block ${numbers[i]} below its own head`);
    return header;
  });
}
