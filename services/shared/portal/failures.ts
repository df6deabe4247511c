/** A block of the chain, as a portal names it. Of Solana, `number` is the slot. */
export interface PortalBlockId {
  readonly number: number;
  readonly hash: string;
}

/**
 * Why a portal gives no history: it refuses the request (our fault or a wrong setting), does not answer well for too
 * long, answers what its protocol does not allow, or what is not on the chain.
 */
export type PortalFailureKind = "refused" | "unavailable" | "malformed" | "untrue";

export class PortalFailure extends Error {
  override readonly name = "PortalFailure";
  readonly kind: PortalFailureKind;
  constructor(kind: PortalFailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The block before the first one asked for is another one on the portal's chain. */
export class PortalFork extends Error {
  override readonly name = "PortalFork";
  /** Blocks of the portal's chain up to that one, ascending. */
  readonly previousBlocks: readonly PortalBlockId[];
  constructor(message: string, previousBlocks: readonly PortalBlockId[]) {
    super(message);
    this.previousBlocks = previousBlocks;
  }
}
