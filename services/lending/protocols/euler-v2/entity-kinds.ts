/** Kinds of entities; ids are addresses. */
export const EVK_FACTORY = "evk-factory";
export const EVK_VAULT = "evk-vault";
export const EARN_VAULT = "earn-vault";
/** A vault of EulerEarn as it was before August 2025, with points for its strategies. */
export const AGGREGATION_VAULT = "aggregation-vault";
/** Who made an EulerEarn vault: the ids are `<vault>:<account>`. */
export const EARN_CREATION = "earn-creation";
/** A list of vaults that Euler keeps on the chain. */
export const PERSPECTIVE = "euler-perspective";
