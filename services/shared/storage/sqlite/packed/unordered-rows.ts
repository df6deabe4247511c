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
  /** Where there is a file: these stay in memory nevertheless. */
  readonly blocksInMemory: number;
}

/** Rows that wait to be written. */
export interface WaitingRows {
  /** False, and nothing is added, where a text of a column of hex is not canonical. */
  add(cells: readonly Stored[]): boolean;
  /** In the order of writing. */
  take(): { readonly parts: readonly PackedPart[]; readonly giveBack: () => void };
}

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

interface TakenRows {
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

  take(): TakenRows {
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
function orderParts(first: TakenRows, later: readonly TakenRows[]): PackedPart[] {
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
