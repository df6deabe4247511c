import { MULTICALL3, Multicall } from "../../../shared/evm/multicall/multicall.ts";
import type { EvmSource, Hex } from "../../../shared/evm/port.ts";
import { requireConsistent } from "../../../shared/index/consistent-read.ts";
import { hasData } from "../../../shared/index/evm/checkpoint.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, remove, type Store } from "../../../shared/storage/port.ts";
import { positionText } from "../../metrics/lp-position.ts";
import { readV2Position, v2PositionCalls } from "../../protocols/aerodrome-v2/anchor.ts";
import { EMPTY_V2_STATE } from "../../protocols/aerodrome-v2/state.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import {
  knownWallets,
  type LpAnchorRow,
  type LpPositionRow,
  lpAnchors,
  walletRequests,
} from "../../store/v2-collections.ts";
import { findPositions } from "../../store/v2-queries.ts";
import { listWalletRequests } from "../../store/wallet-queries.ts";
import { type LpContracts, listLpContracts } from "./lp-contracts.ts";
import type { ReadBudget } from "./read-budget.ts";

const POLL_MS = 1_000;
const MAX_ATTEMPTS = 4;

interface RequestedWalletsOptions {
  readonly store: Store;
  readonly source: EvmSource;
  readonly guard: Guard;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Of wallets. */
  readonly budget: ReadBudget;
}

/**
 * Until the signal: reads what requested wallets held just before the first indexed block in the pools older than it,
 * one wallet after the other and no more than the budget allows. Throws what a reading throws; called again, it goes on
 * with the next wallet.
 */
export async function readRequestedWallets(options: RequestedWalletsOptions): Promise<void> {
  const { store, source, signal, budget, pause } = options;
  const { chainId } = source;
  const multicall = new Multicall({ source, address: MULTICALL3, parallel: 1 });
  let contracts: LpContracts | undefined;
  while (!signal.aborted) {
    const [request] = await listWalletRequests(store, { chainId, limit: 1 });
    const waitMs = request === undefined ? POLL_MS : budget.waitMs();
    if (request === undefined || waitMs > 0) {
      await pause(Math.min(waitMs, POLL_MS), signal);
      continue;
    }
    budget.spend();
    try {
      contracts = await listLpContracts(store, { chainId, known: contracts });
      await readWallet(options, { wallet: request.wallet, multicall, contracts });
    } catch (error) {
      // Last in the queue, lest one wallet keep all others from being read.
      const later = { ...request, requestedAtMs: Date.now() };
      if (!signal.aborted) await store.write([...options.guard(), put(walletRequests, [later])]);
      throw error;
    }
  }
}

/**
 * A pair of wallet and pool without an event since the index began holds at the checkpoint what it held before; one
 * with events has been anchored with the first of them. Neither changes by a reorg of indexed blocks.
 */
async function readWallet(
  { store, source, guard }: RequestedWalletsOptions,
  at: { wallet: string; multicall: Multicall; contracts: LpContracts },
): Promise<void> {
  const { chainId } = source;
  const { wallet, contracts } = at;
  const found = await requireConsistent({
    getCheckpoint: () => getCheckpoint(store, chainId),
    hasData,
    read: () => findPositions(store, { chainId, wallet }),
    isSameState: (before, after) => after?.blockHash === before.blockHash,
    maxAttempts: MAX_ATTEMPTS,
  });
  if (found === undefined) return;
  const { checkpoint, value: positions } = found;
  const rows = [
    ...positions.map(toAnchorRow),
    ...(await readUntouched(at, { checkpoint, positions })),
  ].filter(({ balance, staked }) => balance + staked > 0n);
  await store.write([
    ...guard(),
    put(lpAnchors, rows),
    put(knownWallets, [{ chainId, wallet, contracts: contracts.count, readAtBlock: checkpoint.blockNumber }]),
    remove(walletRequests, [{ chainId, wallet }]),
  ]);
}

function toAnchorRow({ chainId, wallet, poolAddress, anchor }: LpPositionRow): LpAnchorRow {
  const { balance, staked } = positionText.read(anchor);
  return { chainId, wallet, poolAddress, balance, staked };
}

/** What the wallet holds at the checkpoint in the pools where it had no event. */
async function readUntouched(
  { wallet, multicall, contracts }: { wallet: string; multicall: Multicall; contracts: LpContracts },
  { checkpoint, positions }: { checkpoint: CheckpointRow; positions: readonly LpPositionRow[] },
): Promise<LpAnchorRow[]> {
  const { chainId, blockNumber: block, blockHash } = checkpoint;
  const touched = new Set(positions.map(({ poolAddress }) => poolAddress));
  const untouched = [...contracts].filter(([poolAddress]) => !touched.has(poolAddress));
  const pinned = multicall.at({ number: block, hash: blockHash as Hex });
  return Promise.all(
    untouched.map(async ([poolAddress, gauge]) => {
      const state = { ...EMPTY_V2_STATE, gauge };
      const calls = v2PositionCalls(wallet, { state, pool: { poolAddress }, block });
      const results = await Promise.all(calls.map(({ to, data }) => pinned.call(to, data)));
      const { balance, staked } = readV2Position(results, state);
      return { chainId, wallet, poolAddress, balance, staked };
    }),
  );
}
