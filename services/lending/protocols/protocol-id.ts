/** `protocolId` of the rows, and the section of a chain's deployments that a protocol reads. */
export const PROTOCOL_IDS = ["aave-v3", "euler-v2", "morpho-v1"] as const;
export type ProtocolId = (typeof PROTOCOL_IDS)[number];
