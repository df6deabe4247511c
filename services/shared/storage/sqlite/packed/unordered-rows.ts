/** Rows as they came, and the order that they are written in. */
import { orderOf } from "../../row-list.ts";
import type { Stored } from "../../values.ts";
import type { Entry } from "../rows.ts";
import { BLOCK_BYTES } from "./blocks.ts";
import type { PackedPart } from "./cells.ts";
import { CellPacker, NOT_HEX } from "./packer.ts";
import type { WaitingPlace, WaitingRows } from "./waiting-rows.ts";

/**
 * Rows in any order. Where they are many, and ordered by hex, those that come later wait in a file, by the first digit: they are
 * put in order a part at a time.
 */
export class RowsToOrder implements WaitingRows {
  readonly #entry: Entry;
  /** Of a text that they are ordered by. */
  readonly #column: number;
  readonly #place: WaitingPlace;
  /** Of the first rows; the others are put apart. */
  readonly #mostBlocks: number;
  readonly #first: UnorderedRows;
  /** By digit. */
  #parts: UnorderedRows[] = [];

  constructor(entry: Entry, { column, place }: { column: number; place: WaitingPlace }) {
    const { file, blocksInMemory, pool } = place;
    this.#entry = entry;
    this.#column = column;
    this.#place = place;
    this.#mostBlocks = entry.isHex[column] && file !== undefined ? blocksInMemory : Number.POSITIVE_INFINITY;
    this.#first = new UnorderedRows(entry, { pool });
  }

  add(cells: readonly Stored[]): boolean {
    const orderedBy = cells[this.#column] as string;
    return this.#rowsOf(orderedBy).add(cells, orderedBy);
  }

  #rowsOf(hex: string): UnorderedRows {
    if (this.#first.blocks < this.#mostBlocks) return this.#first;
    if (this.#parts.length === 0)
      this.#parts = Array.from({ length: DIGITS }, () => new UnorderedRows(this.#entry, this.#place));
    return this.#parts[digitOf(hex)] as UnorderedRows;
  }

  take() {
    const first = this.#first.take();
    const later = this.#parts.map((rows) => rows.take());
    this.#parts = [];
    const giveBack = () => {
      for (const { giveBack } of [first, ...later]) giveBack();
    };
    return { parts: orderParts(first, later), giveBack };
  }
}

/** The rows of a packer. */
interface Packed {
  readonly part: PackedPart;
  /** By row: what it is ordered by, and its place. */
  readonly texts: readonly string[];
  readonly places: readonly number[];
  readonly giveBack: () => void;
}

class UnorderedRows {
  readonly #packer: CellPacker;
  #texts: string[] = [];
  #places: number[] = [];

  constructor({ declared, isHex }: Entry, { pool, file }: Pick<WaitingPlace, "pool" | "file">) {
    this.#packer = new CellPacker(declared.fields.length, { pool, file, isHex });
  }

  /** Full blocks. */
  get blocks(): number {
    return this.#packer.blocks;
  }

  add(cells: readonly Stored[], orderedBy: string): boolean {
    const place = this.#packer.add(cells);
    if (place === NOT_HEX) return false;
    this.#places.push(place);
    this.#texts.push(orderedBy);
    return true;
  }

  take(): Packed {
    const [texts, places] = [this.#texts, this.#places];
    this.#texts = [];
    this.#places = [];
    const part = this.#packer.take();
    return { part, texts, places, giveBack: () => this.#packer.giveBack(part) };
  }
}

const DIGITS = 16;

/** The first digit of hex, as a number; 0 where there is none. */
function digitOf(hex: string): number {
  return Number.parseInt(hex[2] ?? "", DIGITS) || 0;
}

/**
 * Parts in the order of their texts, and within one text as rows came.
 * @param later by digit: those that came after the first ones; none = there are no later ones
 */
function orderParts(first: Packed, later: readonly Packed[]): PackedPart[] {
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
  { texts, places }: Pick<Packed, "texts" | "places">,
): PackedPart {
  return { count: texts.length, segments, order: orderOf(texts).map((row) => places[row] as number) };
}
