/** Rows as they came, and the order that they are written in. */
import { orderOf } from "../../row-list.ts";
import type { Stored } from "../../values.ts";
import type { Entry } from "../rows.ts";
import { BLOCK_BYTES, type BlockPool } from "./blocks.ts";
import type { PackedPart } from "./cells.ts";
import { CellPacker, NOT_HEX } from "./packer.ts";
import type { SpillFile } from "./spill-file.ts";

/** Where rows wait. */
export interface WaitingPlace {
  readonly pool: BlockPool;
  /** For full blocks; absent = all stay in memory. */
  readonly file?: SpillFile | undefined;
}

interface TakenRows {
  readonly part: PackedPart;
  /** By row: what it is ordered by, and its place. */
  readonly texts: readonly string[];
  readonly places: readonly number[];
  readonly giveBack: () => void;
}

export class UnorderedRows {
  readonly #packer: CellPacker;
  #texts: string[] = [];
  #places: number[] = [];

  constructor(entry: Entry, place: WaitingPlace) {
    const { declared, isHex } = entry;
    this.#packer = new CellPacker(declared.fields.length, { ...place, isHex });
  }

  /** Full blocks. */
  get blocks(): number {
    return this.#packer.blocks;
  }

  /** False, and nothing is added, where a text of a column of hex is not canonical. */
  add(cells: readonly Stored[], orderedBy: string): boolean {
    const place = this.#packer.add(cells);
    if (place === NOT_HEX) return false;
    this.#places.push(place);
    this.#texts.push(orderedBy);
    return true;
  }

  take(): TakenRows {
    const [texts, places] = [this.#texts, this.#places];
    this.#texts = [];
    this.#places = [];
    const part = this.#packer.take();
    return { part, texts, places, giveBack: () => this.#packer.giveBack(part) };
  }
}

export const DIGITS = 16;

/** The first digit of hex, as a number; 0 where there is none. */
export function digitOf(hex: string): number {
  return Number.parseInt(hex[2] ?? "", DIGITS) || 0;
}

/**
 * Parts in the order of their texts, and within one text as rows came.
 * @param later by digit: those that came after the first ones; none = there are no later ones
 */
export function orderParts(first: TakenRows, later: readonly TakenRows[]): PackedPart[] {
  const { segments } = first.part;
  if (later.length === 0) return [orderPart(segments, first)];
  const rowsOf: number[][] = later.map(() => []);
  for (let row = 0; row < first.texts.length; row++) rowsOf[digitOf(first.texts[row] as string)]?.push(row);
  const firstBytes = segments.length * BLOCK_BYTES;
  return later.map(({ part, texts, places }, digit) => {
    const rows = rowsOf[digit] as number[];
    return orderPart([...segments, ...part.segments], {
      texts: [...rows.map((row) => first.texts[row] as string), ...texts],
      places: [
        ...rows.map((row) => first.places[row] as number),
        ...places.map((place) => place + firstBytes),
      ],
    });
  });
}

function orderPart(
  segments: PackedPart["segments"],
  { texts, places }: Pick<TakenRows, "texts" | "places">,
): PackedPart {
  return { count: texts.length, segments, order: orderOf(texts).map((row) => places[row] as number) };
}
