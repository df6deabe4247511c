import { encodeFunctionData, type Hex } from "viem";
import { eulerEarnAbi, eulerVaultAbi } from "../contracts/euler/abi.ts";
import { type EulerDeployment, type EulerEarn, type EulerVault, vaultNamed } from "../euler/plan.ts";
import { onEarn, onVault } from "../euler/transactions.ts";
import type { Address } from "../node/transactions.ts";
import type { Random } from "../random.ts";
import type { Planned, Round } from "./round.ts";

/** What a trader reads of a vault before acting on it. */
const CASH = encodeFunctionData({ abi: eulerVaultAbi, functionName: "cash" });
const BORROWS = encodeFunctionData({ abi: eulerVaultAbi, functionName: "totalBorrows" });
/** Above it no trader borrows more, below it none repays: utilisation goes back and forth over the rates' kinks. */
const HIGH_PERCENT = 94n;
const LOW_PERCENT = 15n;

/**
 * Rounds of loans, deposits and withdrawals, and of what curators move between strategies. Everything is a part of what
 * is there, so that two actions on one vault in a block do not fail each other.
 */
export function createEulerRounds(deployment: EulerDeployment, { random }: { random: Random }): () => Round {
  const lending = deployment.vaults.filter(({ borrower }) => borrower !== undefined);
  return () => {
    const parts = [loan(random.pick(lending), random)];
    const choice = random.next();
    if (choice < 0.35) parts.push(supply(random.pick(deployment.vaults), { deployment, random }));
    else if (choice < 0.5) parts.push(supply(random.pick(deployment.earnVaults), { deployment, random }));
    else if (choice < 0.65)
      parts.push(reallocation(random.pick(deployment.earnVaults), { deployment, random }));
    return {
      reads: parts.flatMap(({ reads }) => reads),
      plan(answers) {
        const left = [...answers];
        return parts.flatMap(({ reads, plan }) => plan(left.splice(0, reads.length)));
      },
    };
  };
}

interface Part {
  readonly reads: Round["reads"];
  plan(answers: readonly Hex[]): Planned[];
}

interface Market {
  readonly deployment: EulerDeployment;
  readonly random: Random;
}

/** The vault's borrower takes up to a fifth of its cash, or pays back up to a quarter of its debt. */
function loan({ address, asset, borrower, spec }: EulerVault, random: Random): Part {
  const from = borrower as Address;
  const cap =
    spec.borrowCap === undefined
      ? undefined
      : BigInt(spec.borrowCap * 100) * 10n ** BigInt(asset.decimals - 2);
  const abi = eulerVaultAbi;
  const ask = (data: Hex) => ({ to: address, data });
  return {
    reads: [
      ask(CASH),
      ask(BORROWS),
      ask(encodeFunctionData({ abi, functionName: "debtOf", args: [from] })),
      ask(encodeFunctionData({ abi, functionName: "accountLiquidity", args: [from, false] })),
    ],
    plan([cashWord, borrowsWord, debtWord, liquidity]) {
      const [cash, borrows, debt] = [cashWord, borrowsWord, debtWord].map((word) => BigInt(word as Hex)) as [
        bigint,
        bigint,
        bigint,
      ];
      const [held, owes] = words(liquidity as Hex) as [bigint, bigint];
      const used = (borrows * 100n) / (cash + borrows);
      const canBorrow = used < HIGH_PERCENT && owes * 13n < held * 10n;
      if (canBorrow && (used < LOW_PERCENT || random.next() < 0.55)) {
        // What its collateral would carry beside what it owes, as the same part of its debt.
        const carried = owes === 0n ? cash : (debt * (held - owes)) / owes;
        const room = cap === undefined ? cash : smaller(cash, cap > borrows ? cap - borrows : 0n);
        const assets = part(smaller(room, carried), random, 20);
        return [
          { from, make: () => onVault(from, address, { functionName: "borrow", args: [assets, from] }) },
        ];
      }
      const assets = part(debt, random, 25);
      return [{ from, make: () => onVault(from, address, { functionName: "repay", args: [assets, from] }) }];
    },
  };
}

/** The supplier adds up to a tenth of what it could, or takes out up to a tenth of what it could have. */
function supply(
  { address, asset }: EulerVault | EulerEarn,
  { deployment: { supplier: from }, random }: Market,
): Part {
  const [abi, args] = [eulerVaultAbi, [from] as const];
  return {
    reads: [
      { to: asset.address, data: encodeFunctionData({ abi, functionName: "balanceOf", args }) },
      { to: address, data: encodeFunctionData({ abi, functionName: "maxDeposit", args }) },
      { to: address, data: encodeFunctionData({ abi, functionName: "maxWithdraw", args }) },
    ],
    plan(answers) {
      const [owned, room, liquid] = answers.map(BigInt) as [bigint, bigint, bigint];
      const adds = random.next() < 0.5;
      const assets = part(adds ? smaller(owned, room) : liquid, random, 10);
      if (assets === 0n) return [];
      // EulerEarn's vaults have the same functions for it.
      const call = adds
        ? ({ functionName: "deposit", args: [assets, from] } as const)
        : ({ functionName: "withdraw", args: [assets, from, from] } as const);
      return [{ from, make: () => onVault(from, address, call) }];
    },
  };
}

/** Up to a tenth of what is in one strategy goes to the other, where its cap leaves room. */
function reallocation({ address, curator, spec, asset }: EulerEarn, { deployment, random }: Market): Part {
  const forth = random.next() < 0.5;
  const [source, target] = (forth ? spec.strategies : [...spec.strategies].reverse()) as [
    (typeof spec.strategies)[number],
    (typeof spec.strategies)[number],
  ];
  const [from, to] = [source, target].map(({ vault }) => vaultNamed(deployment.vaults, vault).address) as [
    Address,
    Address,
  ];
  const abi = eulerEarnAbi;
  const reads = [
    encodeFunctionData({ abi, functionName: "maxWithdrawFromStrategy", args: [from] }),
    encodeFunctionData({ abi, functionName: "expectedSupplyAssets", args: [from] }),
    encodeFunctionData({ abi, functionName: "expectedSupplyAssets", args: [to] }),
  ].map((data) => ({ to: address, data }));
  return {
    reads,
    plan(answers) {
      const [liquid, held, there] = answers.map(BigInt) as [bigint, bigint, bigint];
      const moved = part(liquid, random, 10);
      const cap = target.cap === undefined ? undefined : BigInt(target.cap) * 10n ** BigInt(asset.decimals);
      // A hundredth is left for the interest of this block and for what a deposit brings.
      if (moved === 0n || (cap !== undefined && (there + moved) * 100n > cap * 99n)) return [];
      const shares = [
        { id: from, assets: held - moved },
        { id: to, assets: 2n ** 256n - 1n },
      ];
      return [
        {
          from: curator,
          make: () => onEarn(curator, address, { functionName: "reallocate", args: [shares] }),
        },
      ];
    },
  };
}

function words(data: Hex): bigint[] {
  return (data.slice(2).match(/.{64}/g) ?? []).map((word) => BigInt(`0x${word}`));
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** A random part of an amount, at most so many hundredths of it. */
function part(amount: bigint, random: Random, percent: number): bigint {
  return (amount * BigInt(1 + random.below(percent * 100))) / 10_000n;
}
