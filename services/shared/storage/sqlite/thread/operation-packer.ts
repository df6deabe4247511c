import type { Cell } from "../cell.ts";
import type { Operation, PutRows } from "../operations.ts";
import type { BlockPool } from "../packed/blocks.ts";
import type { PackedCells, PackedPart } from "../packed/cells.ts";
import { CellPacker } from "../packed/packer.ts";
import { readCells } from "../packed/reader.ts";

/**
 * Rows as they cross threads: copied as messages are, every value would be an object of its own on either side. A row's
 * texts are made when it is written.
 */
interface PutCells {
  readonly kind: "packed";
  readonly one: string;
  readonly many: string;
  readonly cells: PackedCells;
}

export type PackedOperation = Exclude<Operation, PutRows> | PutCells;

/** `release` is to be called once they are read no more. */
export function packOperations(
  operations: readonly Operation[],
  pool: BlockPool,
): { packed: PackedOperation[]; release: () => void } {
  const used: (() => void)[] = [];
  const packed = operations.map((operation): PackedOperation => {
    if (operation.kind !== "put") return operation;
    const { one, many, width } = operation;
    if (operation.cells !== undefined) return { kind: "packed", one, many, cells: operation.cells };
    const packer = new CellPacker(width, { pool });
    const part = packRows(packer, operation);
    used.push(() => packer.giveBack(part));
    return { kind: "packed", one, many, cells: { width, count: part.count, parts: [part] } };
  });
  return { packed, release: () => used.forEach((giveBack) => void giveBack()) };
}

/** @throws TypeError for a value that its field cannot hold; then none of the rows is kept. */
function packRows(packer: CellPacker, { width, count, read }: PutRows): PackedPart {
  const next = read();
  const cells: Cell[] = new Array(width).fill(null);
  try {
    for (let row = 0; row < count; row++) {
      next(cells, 0);
      packer.add(cells);
    }
  } catch (error) {
    packer.giveBack(packer.take());
    throw error;
  }
  return packer.take();
}

export function unpackOperation(operation: PackedOperation): Operation {
  if (operation.kind !== "packed") return operation;
  const { one, many, cells } = operation;
  const { width, count } = cells;
  return { kind: "put", one, many, width, count, cells, read: () => readCells(cells) };
}
