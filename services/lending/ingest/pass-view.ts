import type { KnownUnits, UnitRef, UnitState } from "../protocols/protocol.ts";
import type { UnitRow } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import type { UnitBook } from "./unit-book.ts";
import { keyOf } from "./unit-key.ts";

/**
 * The units as a pass sees them: the book's, without those that are taken back, with those that are heard of and found
 * on the way. The book itself changes when the pass is written.
 */
export class PassView implements KnownUnits {
  readonly #book: UnitBook;
  readonly #goneAbove: number;
  readonly #added = new Map<string, { readonly ref: UnitRef; readonly foundBlock: number }>();
  readonly #read = new Map<string, string>();

  /** Units that were heard of first after block `goneAbove` are taken back; Infinity = none. */
  constructor(book: UnitBook, goneAbove: number) {
    this.#book = book;
    this.#goneAbove = goneAbove;
  }

  /** The book's row, unless it is taken back. */
  get(ref: UnitRef): UnitRow | undefined {
    const row = this.#book.get(ref);
    return row === undefined || row.foundBlock > this.#goneAbove ? undefined : row;
  }

  has(kind: string, id: string): boolean {
    return this.#added.has(keyOf({ kind, id })) || this.get({ kind, id }) !== undefined;
  }

  state<S = UnitState>(kind: string, id: string): S | undefined {
    const read = this.#read.get(keyOf({ kind, id }));
    if (read !== undefined) return fromStateText(read) as S;
    return this.get({ kind, id }) && this.#book.state<S>(kind, id);
  }

  /** Makes a unit known; answers whether it was not. */
  add(ref: UnitRef, foundBlock: number): boolean {
    if (this.has(ref.kind, ref.id)) return false;
    this.#added.set(keyOf(ref), { ref: { kind: ref.kind, id: ref.id }, foundBlock });
    return true;
  }

  /** The state that this pass has read. */
  noteRead(ref: UnitRef, state: string): void {
    this.#read.set(keyOf(ref), state);
  }

  /** Where a unit was heard of first. */
  foundBlock(ref: UnitRef): number {
    const block = this.get(ref)?.foundBlock ?? this.#added.get(keyOf(ref))?.foundBlock;
    if (block === undefined) throw new Error(`The unit ${keyOf(ref)} is not known.`);
    return block;
  }

  /** Every unit that stays. */
  *refs(): Generator<UnitRef> {
    for (const row of this.#book.rows()) if (row.foundBlock <= this.#goneAbove) yield row;
    for (const { ref } of this.#added.values()) yield ref;
  }

  /** Rows that are taken back for good. */
  gone(): UnitRow[] {
    return [...this.#book.rows()].filter(
      (row) => row.foundBlock > this.#goneAbove && !this.#added.has(keyOf(row)),
    );
  }
}
