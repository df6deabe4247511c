import type { Stored } from "../../values.ts";
import type { BlockPool } from "./blocks.ts";
import type { PackedPart } from "./cells.ts";
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
