import type { Stored } from "../../values.ts";
import type { Entry } from "../rows.ts";
import { CellPacker, NOT_HEX } from "./packer.ts";
import type { WaitingPlace, WaitingRows } from "./waiting-rows.ts";

/** Rows that come in the order of writing. */
export class OrderedRows implements WaitingRows {
  readonly #packer: CellPacker;

  constructor({ declared, isHex }: Entry, place: WaitingPlace) {
    this.#packer = new CellPacker(declared.fields.length, { ...place, isHex });
  }

  add(cells: readonly Stored[]): boolean {
    return this.#packer.add(cells) !== NOT_HEX;
  }

  take() {
    const part = this.#packer.take();
    // A part is read whole: each is a block.
    const parts = part.segments.map((segment) => ({ count: segment.rows, segments: [segment] }));
    return { parts, giveBack: () => this.#packer.giveBack(part) };
  }
}
