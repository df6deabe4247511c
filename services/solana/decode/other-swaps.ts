import type { BalanceChange } from "./model.ts";

/**
 * Swaps that a transaction's balances show, whatever program made them: owners that did not sign, of whose tokens one
 * went up and another down, as the vaults of a pool do. A pool that pays in lamports shows none; one that shares its
 * authority with others counts once.
 */
export function countSwapsByBalances(
  balances: readonly BalanceChange[],
  signers: ReadonlySet<string>,
): number {
  if (balances.length < 4) return 0;
  const moves = new Map<string, Map<string, bigint>>();
  for (const { owner, mint, before, after } of balances) {
    if (owner === null || signers.has(owner)) continue;
    const ofOwner = moves.get(owner) ?? new Map<string, bigint>();
    ofOwner.set(mint, (ofOwner.get(mint) ?? 0n) + after - before);
    moves.set(owner, ofOwner);
  }
  let swaps = 0;
  for (const ofOwner of moves.values()) {
    if (ofOwner.size < 2) continue;
    const net = [...ofOwner.values()];
    if (net.some((moved) => moved > 0n) && net.some((moved) => moved < 0n)) swaps += 1;
  }
  return swaps;
}
