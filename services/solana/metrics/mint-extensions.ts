/**
 * What a Token-2022 mint's extensions allow, in the form that is stored with its token. Absent = the mint has no such
 * extension, or nobody can use it. A mint of the older token program has none.
 */
export interface MintExtensions {
  /** Two fees in basis points: the newer one is in force from its epoch on. */
  readonly transferFee?: {
    readonly olderBps: number;
    readonly newerBps: number;
    readonly newerEpoch: number;
  };
  readonly nonTransferable?: true;
  /** May move or burn anybody's balance. */
  readonly permanentDelegate?: string;
  /** Program that every transfer calls, null while there is none; and who may set one. */
  readonly transferHook?: { readonly program: string | null; readonly authority: string | null };
  /** New token accounts are frozen. */
  readonly isFrozenByDefault?: true;
  /** Who may pause all transfers, mints and burns, and whether they are. */
  readonly pausable?: { readonly authority: string | null; readonly isPaused: boolean };
  /** May close the mint once its supply is 0. */
  readonly closeAuthority?: string;
  /** Two multipliers of the amounts that wallets show: the newer one is in force from its time (Unix seconds) on. */
  readonly scaledAmount?: { readonly older: number; readonly newer: number; readonly newerTime: number };
  /** Amounts that wallets show grow at this rate. Basis points a year, times in Unix seconds. */
  readonly interest?: {
    readonly startTime: number;
    readonly averageBps: number;
    readonly updateTime: number;
    readonly currentBps: number;
  };
  /** Balances can be hidden. */
  readonly confidentialTransfers?: true;
}

/** Slots in an epoch of mainnet, since its genesis. */
const SLOTS_IN_EPOCH = 432_000;

/** Basis points of the transfer fee in force in a slot; 0 without one. */
export function findTransferFeeBps({ transferFee }: MintExtensions, slot: number): number {
  if (transferFee === undefined) return 0;
  const { olderBps, newerBps, newerEpoch } = transferFee;
  return newerEpoch <= Math.floor(slot / SLOTS_IN_EPOCH) ? newerBps : olderBps;
}

/** Of the token program's interest: 365.24 days. */
const SECONDS_IN_YEAR = 31_556_736;
const BASIS_POINTS = 10_000;

/**
 * What wallets multiply a token's amounts by, at a time (Unix seconds): the multiplier of ScaledUiAmount, or the growth
 * of InterestBearing, which compounds continuously: e^(rate × years) up to the last change of the rate, and since then.
 */
export function findUiMultiplier(extensions: MintExtensions, time: number): number {
  const { scaledAmount, interest } = extensions;
  if (scaledAmount !== undefined)
    return scaledAmount.newerTime <= time ? scaledAmount.newer : scaledAmount.older;
  if (interest === undefined) return 1;
  const { startTime, averageBps, updateTime, currentBps } = interest;
  const grown = averageBps * (updateTime - startTime) + currentBps * (time - updateTime);
  return Math.exp(grown / (SECONDS_IN_YEAR * BASIS_POINTS));
}
