import type { BulkWriter, Store, WriteStep } from "./port.ts";

/**
 * A bulk writer that writes as the store does. It copies rows that their owner may change while it writes: those of a list
 * (openRows) are taken as they were already.
 */
export function writeCopies(store: Pick<Store, "write">): BulkWriter {
  return {
    write: (steps) => store.write(steps.map(withCopies)),
    close: async () => {},
  };
}

function withCopies(step: WriteStep): WriteStep {
  if (step.kind !== "put" || !Array.isArray(step.rows)) return step;
  return { ...step, rows: step.rows.map((row) => ({ ...row })) };
}
