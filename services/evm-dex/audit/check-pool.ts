import { encodeCall, readAddress, readInt, readUint } from "../../shared/evm/abi.ts";
import type { EthCall, Hex } from "../../shared/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { protocolOf } from "../protocols/index.ts";
import type { PoolRow, PoolStateRow } from "../store/collections.ts";
import { getPoolFee } from "../store/queries.ts";
import type { GaugeRow } from "../store/v2-collections.ts";
import { getFactoryFees } from "../store/v2-queries.ts";
import { compareValues, type Finding } from "./finding.ts";
import type { AuditRpc } from "./rpc.ts";

const TOKEN0 = encodeCall("0x0dfe1681");
const TOKEN1 = encodeCall("0xd21220a7");
const FACTORY = encodeCall("0xc45a0155");
const DECIMALS = encodeCall("0x313ce567");
const BALANCE_OF = "0x70a08231";

/** Compares the pool's row with the getters of the pool and its tokens, at the block of its last event. */
export async function checkPool(
  rpc: AuditRpc,
  { pool, block }: { pool: PoolRow; block: number },
): Promise<Finding[]> {
  const at = { pool: pool.poolAddress, block };
  const to = pool.poolAddress as Hex;
  const [token0, token1, factory, decimals0, decimals1] = await rpc.call([
    { to, data: TOKEN0, block },
    { to, data: TOKEN1, block },
    { to, data: FACTORY, block },
    { to: pool.token0Address as Hex, data: DECIMALS, block },
    { to: pool.token1Address as Hex, data: DECIMALS, block },
  ]);
  return [
    compareValues(at, { field: "pools.token0Address", stored: pool.token0Address, chain: addressOf(token0) }),
    compareValues(at, { field: "pools.token1Address", stored: pool.token1Address, chain: addressOf(token1) }),
    compareValues(at, { field: "pools.dexAddress", stored: pool.dexAddress, chain: addressOf(factory) }),
    compareValues(at, {
      field: "pools.token0Decimals",
      stored: pool.token0Decimals,
      chain: intOf(decimals0),
    }),
    compareValues(at, {
      field: "pools.token1Decimals",
      stored: pool.token1Decimals,
      chain: intOf(decimals1),
    }),
  ];
}

/**
 * Compares the stored state with the pool's getters (slot0, getReserves …) at the block of its last event, and its
 * balances at their block.
 */
export async function checkState(
  rpc: AuditRpc,
  options: { pool: PoolRow; state: PoolStateRow; gauge: GaugeRow | undefined },
): Promise<Finding[]> {
  const { pool, state } = options;
  const protocol = protocolOf(pool.protocol);
  const at = { pool: pool.poolAddress, block: state.lastBlock };
  const gauge =
    (options.gauge?.createdBlock ?? Number.POSITIVE_INFINITY) <= state.lastBlock ? options.gauge : undefined;
  const results = await rpc.call(protocol.anchorCalls(pool, state.lastBlock, gauge));
  const there = protocol.anchor(results, { amount0: 0n, amount1: 0n }, gauge);
  const chain = there === undefined ? {} : protocol.auditValues(there);
  const findings = Object.entries(protocol.auditValues(protocol.read(state.state))).map(([name, stored]) =>
    compareValues(at, { field: `pool_states.${name}`, stored, chain: chain[name] }),
  );
  if (state.balanceBlock < 0 || protocol.tvlSource === "reserves") return findings;
  const [balance0, balance1] = await rpc.call(balanceCalls(pool, state.balanceBlock));
  const then = { pool: pool.poolAddress, block: state.balanceBlock };
  return [
    ...findings,
    compareValues(then, { field: "pool_states.balance0", stored: state.balance0, chain: wordOf(balance0) }),
    compareValues(then, { field: "pool_states.balance1", stored: state.balance1, chain: wordOf(balance1) }),
  ];
}

/** Compares the stored fee with fee() at the block it was read at, for pools whose fee changes without an event. */
export async function checkFee(
  rpc: AuditRpc,
  { store, pool }: { store: Store; pool: PoolRow },
): Promise<Finding[]> {
  const { feeCall } = protocolOf(pool.protocol);
  const row = feeCall === undefined ? undefined : await getPoolFee(store, pool);
  if (feeCall === undefined || row === undefined) return [];
  const [fee] = await rpc.call([feeCall(pool.poolAddress, row.block)]);
  const at = { pool: pool.poolAddress, block: row.block };
  return [compareValues(at, { field: "pool_fees.fee", stored: row.fee, chain: intOf(fee) })];
}

/** Compares the stored default fees of the pool's factory with volatileFee() and stableFee() at their block. */
export async function checkFactoryFees(
  rpc: AuditRpc,
  { store, pool }: { store: Store; pool: PoolRow },
): Promise<Finding[]> {
  const { defaultFeeCalls } = protocolOf(pool.protocol);
  if (defaultFeeCalls === undefined) return [];
  const row = await getFactoryFees(store, { chainId: pool.chainId, factory: pool.dexAddress });
  if (row === undefined) return [];
  const [volatileFee, stableFee] = await rpc.call([...defaultFeeCalls(row.factory, row.block)]);
  const at = { pool: pool.poolAddress, block: row.block };
  return [
    compareValues(at, {
      field: "factory_fees.volatileFee",
      stored: row.volatileFee,
      chain: intOf(volatileFee),
    }),
    compareValues(at, { field: "factory_fees.stableFee", stored: row.stableFee, chain: intOf(stableFee) }),
  ];
}

function balanceCalls(pool: PoolRow, block: number): EthCall[] {
  const data = encodeCall(BALANCE_OF, [pool.poolAddress as Hex]);
  return [
    { to: pool.token0Address as Hex, data, block },
    { to: pool.token1Address as Hex, data, block },
  ];
}

function isWord(result: Hex | null | undefined): result is Hex {
  return typeof result === "string" && result.length >= 66;
}

function addressOf(result: Hex | null | undefined): string | null {
  return isWord(result) ? readAddress(result, 0) : null;
}

function intOf(result: Hex | null | undefined): number | null {
  return isWord(result) ? readInt(result, 0) : null;
}

function wordOf(result: Hex | null | undefined): bigint | null {
  return isWord(result) ? readUint(result, 0) : null;
}
