/** The fields that a query of an EVM dataset may select; any other is a 400. */
const HEADER =
  "number hash parentHash timestamp transactionsRoot receiptsRoot stateRoot logsBloom sha3Uncles extraData miner " +
  "nonce mixHash size gasLimit gasUsed difficulty totalDifficulty baseFeePerGas uncles withdrawals withdrawalsRoot " +
  "blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash l1BlockNumber";
const TRANSACTION =
  "transactionIndex hash nonce from to input value gas gasPrice maxFeePerGas maxPriorityFeePerGas v r s yParity " +
  "accessList chainId sighash contractAddress gasUsed logsBloom cumulativeGasUsed effectiveGasPrice type status " +
  "l1Fee l1FeeScalar l1GasPrice l1GasUsed";
const LOG = "logIndex transactionIndex transactionHash address data topics";

export const FIELDS = {
  block: HEADER.split(" "),
  transaction: TRANSACTION.split(" "),
  log: LOG.split(" "),
} as const;

export type FieldTable = keyof typeof FIELDS;

/** Fields that are JSON numbers; every other quantity is 0x text. */
export const NUMBERS: Readonly<Record<FieldTable, ReadonlySet<string>>> = {
  block: new Set(["number", "timestamp", "size", "l1BlockNumber"]),
  transaction: new Set(["transactionIndex", "nonce", "chainId", "type", "status", "yParity"]),
  log: new Set(["logIndex", "transactionIndex"]),
};
