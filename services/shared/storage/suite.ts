import { describeLong } from "../testkit/describe.ts";
import { describeDeclarations } from "./suite/declarations.ts";
import { describeFences } from "./suite/fences.ts";
import type { SuiteOptions } from "./suite/fixture.ts";
import { describeHex } from "./suite/hex.ts";
import { describeKeys } from "./suite/keys.ts";
import { describeLaterFields } from "./suite/later-fields.ts";
import { describePlans } from "./suite/plans.ts";
import { describeQueries } from "./suite/queries.ts";
import { describeRaces } from "./suite/races.ts";
import { describeRowLists } from "./suite/row-lists.ts";
import { describeSums } from "./suite/sums.ts";
import { describeValues } from "./suite/values.ts";
import { describeWithin } from "./suite/within.ts";
import { describeWrites } from "./suite/writes.ts";

/** The contract of every store. Run it from the engine's own test file. */
export function describeStore(name: string, options: SuiteOptions): void {
  describeLong(`store contract: ${name}`, () => {
    describeDeclarations(options);
    describeValues(options);
    describeHex(options);
    describeKeys(options);
    describeQueries(options);
    describeSums(options);
    describeWrites(options);
    describeRowLists(options);
    describeLaterFields(options);
    describeRaces(options);
    describeFences(options);
    describePlans(options);
    describeWithin(options);
  });
}
