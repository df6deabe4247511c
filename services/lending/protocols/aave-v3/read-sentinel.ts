import { readAddress, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader, EntityReading } from "../protocol.ts";
import { contractAt, ZERO_ADDRESS } from "./contracts.ts";
import type { SentinelState } from "./state.ts";

/**
 * Reads the contract that a market may ask before it lends: on a rollup it refuses while the sequencer is down, and for
 * a time after that. Its answer changes with a feed and with time, without an event of the market.
 */
export async function readSentinel(
  provider: Hex,
  reader: ContractReader,
): Promise<EntityReading<SentinelState>> {
  const named = await contractAt(reader, provider).tryCall("getPriceOracleSentinel");
  const sentinel = named === null ? ZERO_ADDRESS : readAddress(named, 0);
  if (sentinel === ZERO_ADDRESS) return { state: { sentinel, lends: true } };
  const answer = await contractAt(reader, sentinel).tryCall("isBorrowAllowed");
  // Where it reverts, so does the loan.
  return { state: { sentinel, lends: answer !== null && readUint(answer, 0) === 1n } };
}
