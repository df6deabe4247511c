import type { FieldInfo } from "../../declaration.ts";
import type { Cell } from "../cell.ts";
import type { Entry } from "../rows.ts";
import type { BlockPool } from "./blocks.ts";
import { type LaterPart, NO_PLACE, type PackedPart } from "./cells.ts";
import { CellPacker } from "./packer.ts";

const FIRST_ROWS = 1_024;

/** Fields of a collection, one beside the other, whose values come later. */
export interface LaterFields {
  /** Of the first of them. */
  readonly column: number;
  readonly fields: readonly FieldInfo[];
  readonly encode: Entry["encode"];
}

/** @throws Error unless they are side by side, the first one an integer or null, none of them hex. */
export function laterFieldsOf({ declared, encode }: Entry, names: readonly string[]): LaterFields {
  const column = declared.fields.findIndex(({ name }) => name === names[0]);
  const fields = declared.fields.slice(column, column + names.length);
  const [first] = fields;
  if (
    first?.type !== "int" ||
    !first.nullable ||
    fields.some(({ name, type }, i) => name !== names[i] || type === "hex")
  )
    throw new Error(`${names.join(", ")} of ${declared.name} cannot be told later.`);
  return { column, fields, encode: encode.slice(column, column + names.length) };
}

/** What is told of rows that were packed without it. It stays in memory: it is small, and read in another order. */
export class LaterCells {
  readonly #later: LaterFields;
  readonly #packer: CellPacker;
  /** By number: where its cells are. */
  #places = new Uint32Array(FIRST_ROWS).fill(NO_PLACE);
  #part: PackedPart | undefined;

  constructor(later: LaterFields, pool: BlockPool) {
    this.#later = later;
    this.#packer = new CellPacker(later.fields.length, { pool });
  }

  /** @throws TypeError for a value that its field cannot hold. */
  tell(number: number, values: Readonly<Record<string, unknown>>): void {
    if (this.#part !== undefined) throw new Error(`Row ${number} is told after its rows were put.`);
    const { fields, encode } = this.#later;
    const cells: Cell[] = [];
    for (let i = 0; i < fields.length; i++)
      cells.push((encode[i] as (value: unknown) => Cell)(values[(fields[i] as FieldInfo).name]));
    if (number >= this.#places.length) this.#grow(number);
    this.#places[number] = this.#packer.add(cells);
  }

  #grow(number: number): void {
    const places = new Uint32Array(Math.ceil(1.5 * (number + 1))).fill(NO_PLACE);
    places.set(this.#places);
    this.#places = places;
  }

  /** As a part of what the rows lack; nothing is told after it. */
  take(): LaterPart {
    const { column, fields } = this.#later;
    this.#part ??= this.#packer.take();
    const { segments } = this.#part;
    const part = { count: this.#places.length, segments, order: this.#places };
    return { column, cells: { width: fields.length, count: part.count, parts: [part] } };
  }

  /** To be called once they are read no more. */
  giveBack(): void {
    this.#packer.giveBack(this.#part ?? this.#packer.take());
  }
}
