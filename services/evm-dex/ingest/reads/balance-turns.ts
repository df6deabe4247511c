import type { ObservedPools } from "../state/observed-pools.ts";
import type { PoolEntry } from "../state/pool-book.ts";
import { lastTurn, newest, numberOf } from "../turns.ts";

/**
 * Balances also move without an event of the pool: tokens that are sent to it, tokens that rebase. So every pool is
 * read again once in this many blocks, an hour of Base.
 */
export const BALANCE_ROUND_BLOCKS = 1_800;
/**
 * The pools of a round take turns, one group every so many blocks: a group is read at one block, in a few requests,
 * while even a node that keeps 128 states has that block's.
 */
const TURN_BLOCKS = 100;
/** Pools whose turn has come that are read at one head, two calls each: after an absence many turns are due. */
export const TURNS_A_HEAD = 200;
/**
 * Pools with unread events that are read at one head: a backfill leaves every pool so. The index follows the chain meanwhile, and
 * few of their entries are in memory. Those of the newest blocks come first: they share blocks, and their states are still there.
 */
export const UNREAD_A_HEAD = 1_000;

/** The last block up to `head` at which it is the pool's turn to be read again; negative where there was none. */
export function lastBalanceTurn(pool: string, head: number): number {
  return lastTurnOf(numberOf(pool), head);
}

function lastTurnOf(number: number, head: number): number {
  const groups = BALANCE_ROUND_BLOCKS / TURN_BLOCKS;
  return lastTurn(head, { every: BALANCE_ROUND_BLOCKS, phase: (number % groups) * TURN_BLOCKS });
}

/** The block that a pool's balances should be of: its last event's, or its turn's after it. */
export function balanceBlockAt(entry: PoolEntry, head: number): number {
  const { lastBlock, protocol, row } = entry;
  if (protocol.tvlSource === "reserves") return lastBlock;
  return Math.max(lastBlock, lastBalanceTurn(row.poolAddress, head));
}

/**
 * The pools whose balances are to be read at `head`: up to UNREAD_A_HEAD that earlier blocks or a rollback left unread, and up
 * to TURNS_A_HEAD whose turn has come. Pools without an event have nothing to write. Called at every head, over all pools.
 */
export function listUnread(pools: ObservedPools, head: number): string[] {
  const unread: number[] = [];
  const turns: string[] = [];
  for (let pool = 0; pool < pools.count; pool++) {
    const lastBlock = pools.lastBlockAt(pool);
    if (lastBlock < 0) continue;
    const balanceBlock = pools.balanceBlockAt(pool);
    if (balanceBlock < lastBlock) unread.push(pool);
    else if (
      turns.length < TURNS_A_HEAD &&
      !pools.holdsReserves(pool) &&
      balanceBlock < lastTurnOf(pools.numberAt(pool), head)
    ) {
      turns.push(pools.addressAt(pool));
    }
  }
  const newestUnread = newest(unread, UNREAD_A_HEAD, (pool) => pools.lastBlockAt(pool));
  return [...newestUnread.map((pool) => pools.addressAt(pool)), ...turns];
}
