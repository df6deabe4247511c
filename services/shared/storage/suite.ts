import { describe } from "mocha";
import type { Store } from "./port.ts";
import { describeDeclarations } from "./suite/declarations.ts";
import { describePlans } from "./suite/plans.ts";
import { describeQueries } from "./suite/queries.ts";
import { describeRaces } from "./suite/races.ts";
import { describeValues } from "./suite/values.ts";
import { describeWrites } from "./suite/writes.ts";

/** An empty place for data. */
export interface StorePlace {
  /** Another connection to the place; the suite closes it. */
  connect(): Promise<Store>;
  /** Removes the place with its data. */
  remove(): Promise<void>;
}

export interface StoreTraits {
  /** Whether a second connection sees the same data; not so for a database in memory. */
  readonly shared: boolean;
  /** Whether one write is all or nothing. */
  readonly atomicWrites: boolean;
  /** For an engine that does not tell its plans: whether it can read a secondary index in order. */
  readonly readsIndexesInOrder?: () => Promise<boolean>;
}

/** What is true of every store, whatever its engine. Run it from the engine's own test file. */
export function describeStore(
  name: string,
  options: { open: () => Promise<StorePlace>; traits: StoreTraits },
): void {
  describe(`store contract: ${name}`, () => {
    describeDeclarations(options);
    describeValues(options);
    describeQueries(options);
    describeWrites(options);
    describeRaces(options);
    describePlans(options);
  });
}
