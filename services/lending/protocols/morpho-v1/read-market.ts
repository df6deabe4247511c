import { encodeCall, readAddress, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, type EntityReading, UnreadableEntity } from "../protocol.ts";
import type { MorphoDeployment } from "./deployment.ts";
import { type MarketParams, type MarketState, type Token, ZERO_ADDRESS } from "./state.ts";

/** Selectors. */
const MARKET = "0x5c60e39a";
const ID_TO_MARKET_PARAMS = "0x2c3c9157";
const RATE_AT_TARGET = "0x01977b57";
const BORROW_RATE_VIEW = "0x8c00bf6b";

interface ReadContext {
  readonly reader: ContractReader;
  readonly previous: MarketState | undefined;
  readonly deployment: MorphoDeployment;
}

/** Reads a market's storage from Morpho and its rate from its interest rate model. */
export async function readMarket(id: Hex, context: ReadContext): Promise<EntityReading<MarketState>> {
  const { reader, previous, deployment } = context;
  const { morpho } = deployment;
  const [stored, params] = await Promise.all([
    reader.call(morpho, encodeCall(MARKET, [id])),
    previous?.params ?? readParams(id, context),
  ]);
  if (stored === null || readInt(stored, 4) === 0)
    throw new UnreadableEntity(`Morpho ${morpho} has no market ${id}`);
  const totals = {
    supplyAssets: readUint(stored, 0),
    supplyShares: readUint(stored, 1),
    borrowAssets: readUint(stored, 2),
    borrowShares: readUint(stored, 3),
    lastUpdate: readInt(stored, 4),
    fee: readUint(stored, 5),
  };
  return { state: { params, ...totals, ...(await readRate({ id, params, totals }, context)) } };
}

async function readParams(id: Hex, { reader, deployment: { morpho } }: ReadContext): Promise<MarketParams> {
  const returned = await reader.call(morpho, encodeCall(ID_TO_MARKET_PARAMS, [id]));
  if (returned === null) throw new UnreadableEntity(`Morpho ${morpho} has no parameters of market ${id}`);
  const [loan, collateral] = await Promise.all([
    readToken(reader, readAddress(returned, 0)),
    readToken(reader, readAddress(returned, 1)),
  ]);
  const [oracle, irm] = [readAddress(returned, 2), readAddress(returned, 3)];
  return { loan, collateral, oracle, irm, lltv: readUint(returned, 4) };
}

export async function readToken(reader: ContractReader, address: string): Promise<Token> {
  if (address === ZERO_ADDRESS) return { address, symbol: "", decimals: 0 };
  const { symbol, decimals } = await reader.token(address);
  return { address, symbol, decimals };
}

interface StoredTotals {
  readonly id: Hex;
  readonly params: MarketParams;
  readonly totals: Omit<MarketState, "params" | "rateAtTarget" | "borrowRate">;
}

async function readRate(
  { id, params, totals }: StoredTotals,
  { reader, deployment }: ReadContext,
): Promise<{ rateAtTarget: bigint | null; borrowRate: bigint | null }> {
  const irm = params.irm as Hex;
  if (irm === ZERO_ADDRESS) return { rateAtTarget: null, borrowRate: 0n };
  if (deployment.adaptiveCurveIrms.includes(irm)) {
    const returned = await reader.call(irm, encodeCall(RATE_AT_TARGET, [id]));
    if (returned === null) throw new UnreadableEntity(`AdaptiveCurveIrm ${irm} has no rate of market ${id}`);
    return { rateAtTarget: readUint(returned, 0), borrowRate: null };
  }
  // Any other model: its current rate, taken as constant until the next reading. If it reverts, rates are null and the
  // market's amounts stay as stored.
  const paramArgs = [params.loan.address, params.collateral.address, params.oracle, irm] as Hex[];
  const { supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee } = totals;
  const totalArgs = [supplyAssets, supplyShares, borrowAssets, borrowShares, lastUpdate, fee];
  const call = encodeCall(BORROW_RATE_VIEW, [...paramArgs, params.lltv, ...totalArgs]);
  const returned = await reader.call(irm, call);
  return { rateAtTarget: null, borrowRate: returned === null ? null : readUint(returned, 0) };
}
