import type { LendingTables } from "./lending-tables.ts";

/** What handlers stand on. */
export interface ServeDeps {
  readonly tables: Pick<LendingTables, "find">;
}
