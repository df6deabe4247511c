/** The recorded blocks of a day for its portal and its node: a block is unpacked when it is asked for, and no other with it. */
import { openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import type { PortalBlock, PortalBlocks, PortalItem } from "../../deploy/devnet/portal/block.ts";
import { type DayIndex, FILES, TOPIC_UNIT } from "../synthetic/day/block-files.ts";

/** A block without its logs. */
export type DayHead = Pick<PortalBlock, "header" | "transactions">;

/** Undefined = any. */
export interface DayLogFilter {
  readonly addresses: readonly unknown[] | undefined;
  readonly topics: readonly unknown[] | undefined;
}

export interface DayBlocks extends PortalBlocks {
  /** Number of the last block; the first is 0. */
  readonly last: number;
  hashOf(number: number): string | undefined;
  numberOf(hash: unknown): number | undefined;
  /** Undefined beyond the last one. */
  headOf(number: number): DayHead | undefined;
  /** The logs of a block that match, in order. */
  logsOf(number: number, isWanted: DayLogMatcher): PortalItem[];
  matcher(filter: DayLogFilter): DayLogMatcher;
}

/** Whether a log matches, by its number in the index. */
export type DayLogMatcher = (log: number) => boolean;

/** Throws where there is no such folder. */
export function openDayBlocks(folder: string): DayBlocks {
  const index = JSON.parse(readFileSync(join(folder, FILES.index), "utf8")) as DayIndex;
  const { blocks, addresses, topics } = index;
  const bytes = readFileSync(join(folder, FILES.logs));
  const logs = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const file = openSync(join(folder, FILES.blocks), "r");
  const numbers = new Map<unknown, number>(blocks.map(([hash], number) => [hash, number]));
  const places = new Float64Array(blocks.length);
  const firstLogs = new Uint32Array(blocks.length);
  let [place, firstLog] = [0, 0];
  for (const [number, [, headBytes, logBytes, count]] of blocks.entries()) {
    places[number] = place;
    firstLogs[number] = firstLog;
    place += headBytes + logBytes;
    firstLog += count;
  }
  const last = blocks.length - 1;

  function unpack(at: number, length: number): string {
    const packed = Buffer.allocUnsafe(length);
    readSync(file, packed, 0, length, at);
    return inflateRawSync(packed).toString("latin1");
  }

  function headOf(number: number): DayHead | undefined {
    const block = blocks[number];
    return block && JSON.parse(unpack(places[number] as number, block[1]));
  }

  function lineTexts(number: number): string {
    const block = blocks[number];
    return block === undefined ? "" : unpack((places[number] as number) + block[1], block[2]);
  }

  return {
    last,
    hashOf: (number) => blocks[number]?.[0],
    numberOf: (hash) => numbers.get(hash),
    headOf,
    logsOf(number, isWanted) {
      const first = firstLogs[number] ?? 0;
      const wanted: number[] = [];
      for (let i = 0; i < (blocks[number]?.[3] ?? 0); i++)
        if (isWanted(logs[first + i] as number)) wanted.push(i);
      if (wanted.length === 0) return [];
      const lines = lineTexts(number).split("\n");
      return wanted.map((i) => JSON.parse(lines[i] as string) as PortalItem);
    },
    matcher(filter) {
      const isAddress = flagsOf(addresses, filter.addresses);
      const isTopic = flagsOf(topics, filter.topics);
      return (log) => isTopic[Math.floor(log / TOPIC_UNIT)] === 1 && isAddress[log & (TOPIC_UNIT - 1)] === 1;
    },
    head: async () => ({ number: last, hash: blocks[last]?.[0] ?? "" }),
    async *read(from, to) {
      for (let number = from; number <= Math.min(to, last); number++)
        yield {
          ...(headOf(number) as DayHead),
          logs: JSON.parse(`[${lineTexts(number).replaceAll("\n", ",")}]`),
        };
    },
  };
}

function flagsOf(names: readonly string[], wanted: readonly unknown[] | undefined): Uint8Array {
  const set = wanted && new Set(wanted);
  return Uint8Array.from(names, (name) => (set === undefined || set.has(name) ? 1 : 0));
}
