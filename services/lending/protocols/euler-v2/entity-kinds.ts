/** Kinds of entities; ids are addresses. */
export const EVK_FACTORY = "evk-factory";
export const EVK_VAULT = "evk-vault";
export const EARN_VAULT = "earn-vault";
