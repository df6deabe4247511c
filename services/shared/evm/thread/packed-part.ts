import type { BlockHeader, BlockWithLogs, Hex, HistoryPart, LogRange, RawLog } from "../port.ts";
import { PackedLog, topicBytes } from "./packed-log.ts";

/**
 * A part as it crosses threads. What a message holds is made when it arrives, long before its turn to be read: strings and
 * objects lived through several collections of the young generation, each of which copied them. So all texts go as bytes,
 * outside of the heap, and those of a log become strings when somebody reads them.
 */
export interface PackedPart {
  readonly range: LogRange;
  readonly headers: readonly BlockHeader[];
  /** Emitters and first topics, each once. */
  readonly names: readonly Hex[];
  /** Counts, indexes and lengths, in the order in which `unpackBlock` reads them. */
  readonly numbers: Uint32Array;
  /** In the same order, one byte a character. */
  readonly texts: Uint8Array;
}

export function packPart({ range, blocks }: HistoryPart): PackedPart {
  const into: Packing = { names: new Map(), numbers: [], texts: [] };
  for (const block of blocks) packBlock(block, into);
  return {
    range,
    headers: blocks.map(({ number, hash, parentHash, timestamp, logsBloom }) => {
      return { number, hash, parentHash, timestamp, logsBloom };
    }),
    names: [...into.names.keys()],
    numbers: Uint32Array.from(into.numbers),
    texts: Buffer.from(into.texts.join(""), "latin1"),
  };
}

/** Its blocks are unpacked when somebody asks for them. */
export function unpackPart(part: PackedPart): HistoryPart {
  return new UnpackedPart(part);
}

class UnpackedPart implements HistoryPart {
  readonly range: LogRange;
  readonly emitters: readonly Hex[];
  #packed: PackedPart | undefined;
  #blocks: readonly BlockWithLogs[] = [];

  constructor(packed: PackedPart) {
    this.range = packed.range;
    // First topics are among them, which are no contract's address.
    this.emitters = packed.names;
    this.#packed = packed;
  }

  get blocks(): readonly BlockWithLogs[] {
    if (this.#packed !== undefined) this.#blocks = unpackBlocks(this.#packed);
    this.#packed = undefined;
    return this.#blocks;
  }
}

function unpackBlocks({ headers, names, numbers, texts }: PackedPart): BlockWithLogs[] {
  const { buffer, byteOffset, byteLength } = texts;
  const from = new PartReader({ names, numbers, texts: Buffer.from(buffer, byteOffset, byteLength) });
  return headers.map((header) => unpackBlock(header, from));
}

interface Packing {
  /** The number of each. */
  readonly names: Map<Hex, number>;
  readonly numbers: number[];
  readonly texts: string[];
}

function packBlock({ senders, logs }: BlockWithLogs, into: Packing): void {
  const { numbers, texts } = into;
  const hashes = new Map(logs.map((log) => [log.transactionIndex, log.transactionHash]));
  for (const list of [Object.entries(senders), [...hashes]]) {
    numbers.push(list.length);
    for (const [index, text] of list) {
      numbers.push(Number(index), text.length);
      texts.push(text);
    }
  }
  numbers.push(logs.length);
  for (const { address, topics, data, transactionIndex, logIndex } of logs) {
    const [first, ...others] = topics;
    numbers.push(transactionIndex, logIndex, numberOf(address, into.names), topics.length);
    if (first !== undefined) numbers.push(numberOf(first, into.names));
    numbers.push(data.length);
    texts.push(...others, data);
  }
}

function numberOf(name: Hex, names: Map<Hex, number>): number {
  const known = names.get(name);
  if (known !== undefined) return known;
  names.set(name, names.size);
  return names.size - 1;
}

function unpackBlock(block: BlockHeader, from: PartReader): BlockWithLogs {
  const senders = from.textsByIndex();
  const hashes = from.textsByIndex();
  const logs: RawLog[] = [];
  for (let left = from.number(); left > 0; left--) {
    const transactionIndex = from.number();
    const logIndex = from.number();
    const address = from.name();
    const topics = from.number();
    const firstTopic = topics === 0 ? undefined : from.name();
    const dataLength = from.number();
    const start = from.skip(topicBytes(topics) + dataLength);
    const transactionHash = hashes[transactionIndex] as Hex;
    logs.push(
      new PackedLog(
        { address, transactionHash, transactionIndex, logIndex },
        { block, place: { texts: from.texts, start, topics, firstTopic, dataLength } },
      ),
    );
  }
  const { number, hash, parentHash, timestamp, logsBloom } = block;
  return { number, hash, parentHash, timestamp, logsBloom, senders, logs };
}

/** Reads a packed part from its beginning on. */
class PartReader {
  readonly texts: Buffer;
  readonly #names: readonly Hex[];
  readonly #numbers: Uint32Array;
  #number = 0;
  #text = 0;

  constructor({ names, numbers, texts }: Pick<PackedPart, "names" | "numbers"> & { texts: Buffer }) {
    this.texts = texts;
    this.#names = names;
    this.#numbers = numbers;
  }

  number(): number {
    return this.#numbers[this.#number++] as number;
  }

  name(): Hex {
    return this.#names[this.number()] as Hex;
  }

  /** Where the next texts begin, which are left out. */
  skip(length: number): number {
    const start = this.#text;
    this.#text += length;
    return start;
  }

  textsByIndex(): Hex[] {
    const list: Hex[] = [];
    for (let left = this.number(); left > 0; left--) {
      const index = this.number();
      const start = this.skip(this.number());
      list[index] = this.texts.toString("latin1", start, this.#text) as Hex;
    }
    return list;
  }
}
