import type { Collection } from "../../../shared/storage/collection.ts";
import { DAY } from "../../metrics/bucket.ts";
import type { Clock } from "../../store/block-after.ts";
import { feedAnswers, poolEvents, priceLinks } from "../../store/collections.ts";
import { observations } from "../../store/observations.ts";
import { lpEvents } from "../../store/v2-collections.ts";

/** A run of blocks that ends with a UTC day. */
export interface DayBlocks {
  /** The end excluded. */
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Unix seconds, whole UTC days, the end excluded. */
  readonly fromTime: number;
  readonly toTime: number;
}

type Conditions = Readonly<Record<string, string | number | { readonly lt: number }>>;

/** One row a log or a block, each with the value after it: of a row's group the last one before a block counts. */
export interface RawCollection {
  readonly collection: Collection;
  /** Whose value a row is, beside the chain's. */
  readonly group: readonly string[];
  /** The field that orders the rows of one block. */
  readonly within: string;
  /** Conditions on rows of a group before these blocks, which an index serves. */
  readonly before: (blocks: DayBlocks) => Conditions;
  /** What readers need in any case. */
  readonly leastSeconds: number;
  /**
   * Whose rows tell which block a day ends with: ones that are all still there when these go. Where rows of another
   * collection have gone before, a day would seem to end earlier, and "the last one before it" would be removed.
   */
  readonly clock: Clock;
  /** Unix seconds among the fields. */
  readonly times: readonly string[];
}

const beforeTime = ({ fromTime }: DayBlocks) => ({ time: { lt: fromTime } });
const beforeBlock = ({ fromBlock }: DayBlocks) => ({ blockNumber: { lt: fromBlock } });

/** The longest window of a wallet's positions, and today. Source: WINDOW_DAYS of serve/provider/summary.ts. */
const POSITION_SECONDS = 31 * DAY;

/** In the order of removal: prices and positions go before the events that their times are checked by. */
export const RAW_COLLECTIONS: readonly RawCollection[] = [
  {
    collection: lpEvents,
    group: ["wallet", "poolAddress"],
    within: "logIndex",
    before: beforeTime,
    leastSeconds: POSITION_SECONDS,
    clock: lpEvents,
    times: ["time"],
  },
  {
    collection: priceLinks,
    group: ["token"],
    within: "token",
    before: beforeBlock,
    leastSeconds: 0,
    clock: poolEvents,
    times: ["time", "departedAt"],
  },
  {
    collection: feedAnswers,
    group: ["token"],
    within: "token",
    before: beforeBlock,
    leastSeconds: 0,
    clock: poolEvents,
    times: ["updatedAt"],
  },
  {
    collection: observations,
    group: ["address", "what"],
    within: "address",
    before: beforeBlock,
    leastSeconds: 0,
    clock: poolEvents,
    times: [],
  },
  {
    collection: poolEvents,
    group: ["poolAddress"],
    within: "logIndex",
    before: beforeTime,
    leastSeconds: 0,
    clock: poolEvents,
    times: ["time", "previousMinute"],
  },
];
