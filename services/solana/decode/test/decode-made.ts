import type { SolanaTransaction } from "../../chain/port.ts";
import { decodeTransaction } from "../decode.ts";
import type { DecodedTransaction, LiquidityChange, SupplyChange, Trade } from "../model.ts";

const NOTHING: DecodedTransaction = {
  transactionIndex: 0,
  signature: "",
  feePayer: "",
  events: [],
  balances: [],
  disagreements: [],
};

/** A transaction's rows by kind. */
export function decodeMade(transaction: SolanaTransaction): {
  decoded: DecodedTransaction;
  trades: Trade[];
  liquidity: LiquidityChange[];
  supply: SupplyChange[];
  disagreements: string[];
} {
  const decoded = decodeTransaction(transaction) ?? NOTHING;
  return {
    decoded,
    trades: decoded.events.filter((event) => event.kind === "trade"),
    liquidity: decoded.events.filter((event): event is LiquidityChange => event.kind.endsWith("_liquidity")),
    supply: decoded.events.filter(
      (event): event is SupplyChange => event.kind === "mint" || event.kind === "burn",
    ),
    disagreements: decoded.disagreements.map(({ reason }) => reason),
  };
}
