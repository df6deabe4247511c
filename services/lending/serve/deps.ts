import type { LendingTables } from "./tables/lending-tables.ts";

/** Dependencies of the handlers. */
export interface ServeDeps {
  readonly tables: Pick<LendingTables, "headState">;
}
