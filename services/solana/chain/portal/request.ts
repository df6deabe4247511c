/** Names that a query selects, each as `true`. */
function select(names: string): Readonly<Record<string, true>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, true]));
}

const FIELDS = {
  block: select("number hash parentNumber parentHash timestamp"),
  transaction: select(
    "transactionIndex accountKeys signatures loadedAddresses err fee hasDroppedLogMessages",
  ),
  instruction: select("transactionIndex instructionAddress programId accounts data"),
  log: select("transactionIndex logIndex instructionAddress kind message"),
  balance: select("transactionIndex account pre post"),
  tokenBalance: select(
    "transactionIndex account preProgramId postProgramId preMint postMint preDecimals postDecimals preOwner postOwner preAmount postAmount",
  ),
};

export interface WantedPrograms {
  /** Transactions that call one of these come whole. */
  readonly called: readonly string[];
  /** Programs that write their events into the log. */
  readonly logging: readonly string[];
}

/**
 * All blocks, without which a hidden one would not be noticed, with the transactions that succeeded and call a wanted
 * program. Its range is the client's.
 */
export function toPortalQuery({ called, logging }: WantedPrograms): Readonly<Record<string, unknown>> {
  return {
    type: "solana",
    includeAllBlocks: true,
    fields: FIELDS,
    instructions: [
      {
        programId: called,
        isCommitted: true,
        transaction: true,
        transactionInstructions: true,
        transactionBalances: true,
        transactionTokenBalances: true,
      },
      { programId: logging, isCommitted: true, logs: true },
    ],
  };
}
