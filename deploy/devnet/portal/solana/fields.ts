/** The fields that a query of a Solana dataset may select; any other is a 400. */
export const SOLANA_FIELDS = {
  block: names("number hash parentNumber parentHash height timestamp"),
  transaction: names(
    "transactionIndex version accountKeys addressTableLookups numReadonlySignedAccounts numReadonlyUnsignedAccounts " +
      "numRequiredSignatures recentBlockhash signatures err computeUnitsConsumed fee loadedAddresses feePayer " +
      "hasDroppedLogMessages",
  ),
  instruction: names(
    "transactionIndex instructionAddress programId accounts data d1 d2 d4 d8 error isCommitted computeUnitsConsumed " +
      "hasDroppedLogMessages",
  ),
  log: names("transactionIndex logIndex instructionAddress programId kind message"),
  balance: names("transactionIndex account pre post"),
  tokenBalance: names(
    "transactionIndex account preProgramId postProgramId preMint postMint preDecimals postDecimals preOwner postOwner " +
      "preAmount postAmount",
  ),
} as const;

export type SolanaTable = keyof typeof SOLANA_FIELDS;

function names(text: string): readonly string[] {
  return text.split(" ");
}
