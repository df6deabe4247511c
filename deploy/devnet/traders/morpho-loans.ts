import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { adaptiveCurveIrmAbi, morphoAbi } from "../contracts/morpho/abi.ts";
import type { MorphoDeployment, MorphoMarket } from "../morpho/plan.ts";
import { morphoCall } from "../morpho/transactions.ts";
import type { Random } from "../random.ts";
import type { Planned, Round } from "./round.ts";

const YEAR_S = 31_536_000;
const HOUR_S = 3_600;
/** Percent a year at the target utilization that borrowers put up with, where the market says nothing else. */
const BEARABLE_PCT = 12;

/** Supplier or borrower of one market do something that leads its utilization where it should be by now. */
export function createLoanRounds(deployment: MorphoDeployment, { random }: { random: Random }): () => Round {
  const { morpho, irm, actors } = deployment;
  const lending = Object.values(deployment.markets).filter(({ spec }) => spec.usePct !== undefined);
  return () => {
    const market = random.pick(lending);
    const { id } = market;
    const position = (owner: Hex) =>
      encodeFunctionData({ abi: morphoAbi, functionName: "position", args: [id, owner] });
    const rate = encodeFunctionData({ abi: adaptiveCurveIrmAbi, functionName: "rateAtTarget", args: [id] });
    return {
      reads: [
        { to: morpho, data: encodeFunctionData({ abi: morphoAbi, functionName: "market", args: [id] }) },
        { to: irm, data: rate },
        { to: morpho, data: position(actors.borrower) },
        { to: morpho, data: position(actors.supplier) },
      ],
      plan(answers, timeS) {
        const planned = chooseLoan(look(market, answers), { deployment, timeS, random });
        return planned ? [planned] : [];
      },
    };
  };
}

/** A market without the interest since it was touched last. Amounts are raw units of the loan token. */
interface View {
  readonly market: MorphoMarket;
  readonly supply: bigint;
  readonly borrow: bigint;
  readonly ratePct: number;
  /** What the borrower owes. */
  readonly debt: bigint;
  /** Raw units of the collateral token. */
  readonly collateral: bigint;
  /** What the supplier has in it beside the vaults. */
  readonly supplied: bigint;
}

function look(market: MorphoMarket, answers: readonly Hex[]): View {
  const [totals, rate, ofBorrower, ofSupplier] = answers as [Hex, Hex, Hex, Hex];
  const abi = morphoAbi;
  const { totalSupplyAssets, totalSupplyShares, totalBorrowAssets, totalBorrowShares } = decodeFunctionResult(
    {
      abi,
      functionName: "market",
      data: totals,
    },
  );
  const [, borrowShares, collateral] = decodeFunctionResult({
    abi,
    functionName: "position",
    data: ofBorrower,
  });
  const [supplyShares] = decodeFunctionResult({ abi, functionName: "position", data: ofSupplier });
  const part = (shares: bigint, assets: bigint, all: bigint) => (all === 0n ? 0n : (assets * shares) / all);
  return {
    market,
    supply: totalSupplyAssets,
    borrow: totalBorrowAssets,
    ratePct: (Number(BigInt(rate)) / 1e18) * YEAR_S * 100,
    debt: part(borrowShares, totalBorrowAssets, totalBorrowShares),
    collateral,
    supplied: part(supplyShares, totalSupplyAssets, totalSupplyShares),
  };
}

/** Swings around the market's usual utilization; where the rate has become unbearable, everybody pays back. */
function wantedUtilization({ market: { spec, id }, ratePct }: View, timeS: number): number {
  const [mean, swing] = spec.usePct ?? [0, 0];
  if (ratePct > (spec.bearablePct ?? BEARABLE_PCT)) return 0.6;
  const phase = Number.parseInt(id.slice(2, 8), 16);
  return (mean + swing * Math.sin((2 * Math.PI * timeS) / (4 * HOUR_S) + phase)) / 100;
}

/** Undefined where nothing is worth doing. Far enough from every limit for what accrues until the block. */
function chooseLoan(
  view: View,
  { deployment, timeS, random }: { deployment: MorphoDeployment; timeS: number; random: Random },
): Planned | undefined {
  const { market, supply, borrow, debt, collateral, supplied } = view;
  const { morpho, actors } = deployment;
  const { supplier, borrower } = actors;
  const { params, price } = market;
  const call = (from: Hex, make: () => ReturnType<typeof morphoCall>): Planned => ({ from, make });
  const byBorrower = [borrower, morpho] as const;
  const bySupplier = [supplier, morpho] as const;

  const mayOwe = (((collateral * price) / 10n ** 36n) * params.lltv) / 10n ** 18n;
  if (debt > (mayOwe * 8n) / 10n) {
    const more = collateral / 4n + 1n;
    return call(borrower, () => morphoCall(byBorrower, "supplyCollateral", [params, more, borrower, "0x"]));
  }
  const distance = wantedUtilization(view, timeS) - Number(borrow) / Number(supply);
  const step = BigInt(Math.round(Number(supply) * Math.abs(distance) * (0.2 + 0.8 * random.next())));
  const others = random.next() < 0.3;
  if (distance < 0) {
    if (others)
      return call(supplier, () => morphoCall(bySupplier, "supply", [params, step + 1n, 0n, supplier, "0x"]));
    const back = least(step, debt / 2n);
    if (back === 0n) return undefined;
    return call(borrower, () => morphoCall(byBorrower, "repay", [params, back, 0n, borrower, "0x"]));
  }
  const free = supply - borrow;
  const taken = others
    ? least(step, supplied / 4n, free / 2n)
    : least(step, (mayOwe * 9n) / 10n - debt, free);
  if (taken <= 0n) return undefined;
  return others
    ? call(supplier, () => morphoCall(bySupplier, "withdraw", [params, taken, 0n, supplier, supplier]))
    : call(borrower, () => morphoCall(byBorrower, "borrow", [params, taken, 0n, borrower, borrower]));
}

export function least(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((smallest, amount) => (amount < smallest ? amount : smallest));
}
