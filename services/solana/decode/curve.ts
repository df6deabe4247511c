/** Pump.fun's TradeEvent: what a bonding curve traded, and the only source of the lamports it paid. */
import { fromHex, readU32, readU64 } from "./bytes.ts";

export const TRADE_EVENT = fromHex("bddb7fd34ee661ee");

export interface CurveTrade {
  readonly isBuy: boolean;
  /** The token's side. */
  readonly amount: bigint;
  /** The quote's side at the curve's price, fees apart: lamports, or the quote token's units. */
  readonly quoteAmount: bigint;
  /** What the curve can still sell, and the lamports it holds for its sellers, after the trade. */
  readonly reserve: bigint;
  readonly lamportReserve: bigint;
}

const SOL_AMOUNT = 32;
const TOKEN_AMOUNT = 40;
const IS_BUY = 48;
const REAL_SOL_RESERVES = 105;
const REAL_TOKEN_RESERVES = 113;
/** Behind the fields of fixed size that all versions share or append: the name of the instruction. */
const INSTRUCTION_NAME = 250;
/** From there to the list of shareholders: a flag and four u64. */
const TO_SHAREHOLDERS = 33;
const SHAREHOLDER_BYTES = 34;
const MINT_BYTES = 32;

/** Reads the event after its discriminator (pump's IDL). Throws RangeError for data that is shorter than any version. */
export function readCurveTrade(data: Uint8Array): CurveTrade {
  const lamports = readU64(data, SOL_AMOUNT);
  return {
    isBuy: data[IS_BUY] === 1,
    amount: readU64(data, TOKEN_AMOUNT),
    // A curve against another token has 0 lamports here, and its quote behind lists of varying length.
    quoteAmount: lamports === 0n ? (readQuoteAmount(data) ?? 0n) : lamports,
    reserve: readU64(data, REAL_TOKEN_RESERVES),
    lamportReserve: readU64(data, REAL_SOL_RESERVES),
  };
}

function readQuoteAmount(data: Uint8Array): bigint | undefined {
  if (data.length < INSTRUCTION_NAME + 4) return undefined;
  const shareholders = INSTRUCTION_NAME + 4 + readU32(data, INSTRUCTION_NAME) + TO_SHAREHOLDERS;
  if (data.length < shareholders + 4) return undefined;
  const at = shareholders + 4 + readU32(data, shareholders) * SHAREHOLDER_BYTES + MINT_BYTES;
  return data.length < at + 8 ? undefined : readU64(data, at);
}
