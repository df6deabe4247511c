import type { Hex } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import type { PoolEntry } from "../../ingest/state/pool-book.ts";
import { uniswapV3 } from "../../protocols/uniswap-v3.ts";
import { EMPTY_STATE, writeState } from "../../protocols/v3/state.ts";
import {
  type CheckpointRow,
  COLLECTIONS,
  type PoolEventRow,
  type PoolRow,
  type PoolStateRow,
} from "../../store/collections.ts";

export const CHAIN_ID = 8453;

/** The n-th address. */
export function address(n: number): Hex {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

/** An unsigned integer as return data has it. */
export function word(value: number | bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

/** The n-th 32-byte hash, n of any sign; `branch` distinguishes two chains. */
export function hash(n: number, branch = 0): Hex {
  const bits = BigInt.asUintN(224, BigInt(n));
  return `0x${branch.toString(16).padStart(8, "0")}${bits.toString(16).padStart(56, "0")}`;
}

export function poolRow(row: Partial<PoolRow> = {}): PoolRow {
  return {
    chainId: CHAIN_ID,
    poolAddress: address(0x900),
    dexAddress: address(0xfac),
    dexName: "Uniswap V3",
    family: "dexb",
    protocol: "uniswap-v3",
    token0Address: address(0x10),
    token0Symbol: "WETH",
    token0Decimals: 18,
    token1Address: address(0x11),
    token1Symbol: "USDC",
    token1Decimals: 6,
    createdAt: 1_700_000_000,
    createdBlock: 100,
    fee: 3000,
    tickSpacing: 60,
    stable: false,
    ...row,
  };
}

/** A pool as the ingest holds it before its first event. */
export function poolEntry(options: Partial<PoolEntry> = {}): PoolEntry {
  return {
    row: poolRow(),
    protocol: uniswapV3,
    state: EMPTY_STATE,
    anchor: undefined,
    lastBlock: -1,
    lastTime: 0,
    balance0: 0n,
    balance1: 0n,
    balanceBlock: -1,
    ...options,
  };
}

export function checkpointRow(row: Partial<CheckpointRow> = {}): CheckpointRow {
  return {
    chainId: CHAIN_ID,
    blockNumber: 200,
    blockHash: hash(200),
    blockTime: 1_700_000_400,
    fromBlock: 100,
    fromTime: 1_700_000_000,
    chainHead: 200,
    genesisHash: hash(0),
    ...row,
  };
}

export function eventRow(row: Partial<PoolEventRow> = {}): PoolEventRow {
  return {
    chainId: CHAIN_ID,
    blockNumber: 150,
    logIndex: 0,
    poolAddress: address(0x900),
    kind: "mint",
    blockHash: hash(150),
    time: 1_700_000_100,
    txHash: hash(150, 5),
    sender: address(7),
    amounts: "0 0",
    state: "1 0 0 0 0 0",
    price0Usd: null,
    price1Usd: null,
    valueUsd: null,
    feeUsd: null,
    tickTravel: null,
    previousMinute: null,
    previousUsers: null,
    ...row,
  };
}

/** An empty store of this service, in memory. */
export async function openTestStore(): Promise<Store> {
  const store = await openSqliteStore({ path: ":memory:" });
  await store.declare(COLLECTIONS);
  return store;
}

/** A pool's state at the checkpoint: initialised, its balances read. */
export function poolStateRow(row: Partial<PoolStateRow> = {}): PoolStateRow {
  const state = writeState({
    sqrtPriceX96: 2n ** 96n,
    liquidity: 10n ** 18n,
    tick: 5,
    reserve0: 10n ** 18n,
    reserve1: 2n * 10n ** 6n,
    feeProtocol: 0,
  });
  return {
    chainId: CHAIN_ID,
    poolAddress: address(0x900),
    state,
    lastBlock: 150,
    lastTime: 1_700_000_100,
    balance0: 10n ** 18n,
    balance1: 3n * 10n ** 6n,
    balanceBlock: 150,
    anchor: state,
    ...row,
  };
}

/** Events as the chain has them: a write has them by pool. */
export function inChainOrder(events: Iterable<PoolEventRow>): PoolEventRow[] {
  return [...events].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** Of the rows of one name, the last. */
export function lastOf<R>(rows: readonly R[], nameOf: (row: R) => string): R[] {
  return [...new Map(rows.map((row) => [nameOf(row), row])).values()];
}
