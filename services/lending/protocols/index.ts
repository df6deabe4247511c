import { aaveV3 } from "./aave-v3/protocol.ts";
import { eulerV2 } from "./euler-v2/protocol.ts";
import { morphoV1 } from "./morpho-v1/protocol.ts";
import type { LendingProtocol } from "./protocol.ts";

/** Every supported protocol; a chain's deployments name those that are indexed there. */
export const PROTOCOLS: readonly LendingProtocol[] = [aaveV3, morphoV1, eulerV2];
