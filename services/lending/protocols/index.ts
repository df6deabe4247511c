import { aaveV3 } from "./aave-v3/protocol.ts";
import { eulerV2 } from "./euler-v2/protocol.ts";
import { morphoV1 } from "./morpho-v1/protocol.ts";
import type { LendingProtocol } from "./protocol.ts";

/** Every protocol that is indexed; a chain has those that its deployments name. */
export const PROTOCOLS: readonly LendingProtocol[] = [aaveV3, morphoV1, eulerV2];
