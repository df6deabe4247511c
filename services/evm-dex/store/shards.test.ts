import { describeShardTargets } from "../../shared/storage/testkit/shard-targets.ts";
import { COLLECTIONS } from "./collections.ts";

describeShardTargets("evm-dex", {
  collections: COLLECTIONS,
  // Rows of the chain's order, found by pool or wallet: only a rollback asks for them by their key.
  partial: { pool_events: ["chainId"], lp_events: ["chainId", "wallet"] },
});
