import type { Environment } from "../../services/shared/settings/settings.ts";
import { demoFacilitator, demoTill } from "../devnet/usdc/demo-wallets.ts";

/** Settings by which requests are sold on the local chain. */
export function localPayments(given: Environment): Environment {
  return {
    X402_PAY_TO: demoTill.address,
    FACILITATOR_PRIVATE_KEY: demoFacilitator.privateKey,
    // A user who leaves one port to the system leaves all of them.
    FACILITATOR_PORT: given.FACILITATOR_PORT || "0",
    ...(given.GATEWAY_PORT === "0" && !given.X402_PORT ? { X402_PORT: "0" } : {}),
  };
}
