import { describeShardTargets } from "../../shared/storage/testkit/shard-targets.ts";
import { COLLECTIONS } from "./collections.ts";

describeShardTargets("solana", { collections: COLLECTIONS });
