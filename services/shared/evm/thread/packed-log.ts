import type { BlockHeader, Hex, RawLog } from "../port.ts";

/** Characters of a topic. */
const TOPIC_LENGTH = 66;

/** Where a log's texts are: its topics but the first, then its data. */
interface LogPlace {
  readonly texts: Buffer;
  readonly start: number;
  readonly topics: number;
  readonly firstTopic: Hex | undefined;
  readonly dataLength: number;
}

/** A log whose topics and data are bytes until somebody reads them. */
export class PackedLog implements RawLog {
  readonly address: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly #block: BlockHeader;
  readonly #place: LogPlace;
  #topics: readonly Hex[] | undefined;
  #data: Hex | undefined;

  constructor(
    log: Pick<RawLog, "address" | "transactionHash" | "transactionIndex" | "logIndex">,
    { block, place }: { block: BlockHeader; place: LogPlace },
  ) {
    this.address = log.address;
    this.transactionHash = log.transactionHash;
    this.transactionIndex = log.transactionIndex;
    this.logIndex = log.logIndex;
    this.#block = block;
    this.#place = place;
  }

  get blockNumber(): number {
    return this.#block.number;
  }

  get blockHash(): Hex {
    return this.#block.hash;
  }

  get blockTimestamp(): number {
    return this.#block.timestamp;
  }

  get topics(): readonly Hex[] {
    this.#topics ??= readTopics(this.#place);
    return this.#topics;
  }

  get data(): Hex {
    const { texts, start, topics, dataLength } = this.#place;
    const from = start + topicBytes(topics);
    this.#data ??= texts.toString("latin1", from, from + dataLength) as Hex;
    return this.#data;
  }
}

/** Bytes of a log's topics. */
export function topicBytes(topics: number): number {
  return Math.max(0, topics - 1) * TOPIC_LENGTH;
}

function readTopics({ texts, start, topics, firstTopic }: LogPlace): Hex[] {
  const list: Hex[] = firstTopic === undefined ? [] : [firstTopic];
  for (let at = start; list.length < topics; at += TOPIC_LENGTH)
    list.push(texts.toString("latin1", at, at + TOPIC_LENGTH) as Hex);
  return list;
}
