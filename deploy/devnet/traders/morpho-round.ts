import { decodeFunctionResult, encodeFunctionData, type Hex, maxUint256 } from "viem";
import { metaMorphoAbi, morphoAbi } from "../contracts/morpho/abi.ts";
import { rawOf } from "../morpho/deploy.ts";
import { MORPHO_VAULTS, type MorphoMarketName } from "../morpho/market.ts";
import type { MorphoDeployment, MorphoMarket } from "../morpho/plan.ts";
import { morphoCall, setPrice, vaultCall } from "../morpho/transactions.ts";
import type { Random } from "../random.ts";
import { createLoanRounds, least } from "./morpho-loans.ts";
import type { Round } from "./round.ts";
import { wanderOf } from "./wander.ts";

/** In parts of all blocks; there is never more than one of the first three in a block, since each depends on what it read. */
const LOAN_SHARE = 0.25;
const DEPOSIT_SHARE = 0.1;
const REALLOCATION_SHARE = 0.05;
const REPORT_SHARE = 0.05;
const POKE_SHARE = 0.01;

const NOTHING: Round = { reads: [], plan: () => [] };

/** Rounds of what lenders, borrowers, depositors and the allocator do, of oracles' reports, and of bare accruals. */
export function createMorphoRounds(
  deployment: MorphoDeployment,
  { random }: { random: Random },
): () => Round {
  const { morpho } = deployment;
  const markets = Object.values(deployment.markets);
  const priced = markets.filter(({ collateral }) => collateral !== undefined);
  const loanRound = createLoanRounds(deployment, { random });

  function move(): Round {
    const choice = random.next();
    if (choice < LOAN_SHARE) return loanRound();
    if (choice < LOAN_SHARE + DEPOSIT_SHARE) return depositRound(deployment, random);
    if (choice < LOAN_SHARE + DEPOSIT_SHARE + REALLOCATION_SHARE)
      return reallocationRound(deployment, random);
    return NOTHING;
  }

  return () => {
    const { reads, plan } = move();
    return {
      reads,
      plan(answers, timeS) {
        const planned = [...plan(answers, timeS)];
        if (random.next() < REPORT_SHARE) {
          const market = random.pick(priced);
          const price = priceAt(market, timeS);
          planned.push({ make: (from) => setPrice(from, market.params.oracle, price) });
        }
        if (random.next() < POKE_SHARE) {
          const { params } = random.pick(markets);
          planned.push({ make: (from) => morphoCall([from, morpho], "accrueInterest", [params]) });
        }
        return planned;
      },
    };
  };
}

/** Where the pools' traders pull the two tokens' prices, too. */
function priceAt({ loan, collateral, price }: MorphoMarket, timeS: number): bigint {
  if (!collateral) return price;
  const wandered = 1.0001 ** wanderOf({ token0: collateral, token1: loan }, timeS);
  return (price * BigInt(Math.round(wandered * 1e9))) / 10n ** 9n;
}

/** The supplier puts assets into a vault or takes some out, staying between half and twice its first deposit. */
function depositRound({ actors: { supplier }, vaults }: MorphoDeployment, random: Random): Round {
  const { address, asset, spec } = random.pick(
    Object.values(vaults).filter((vault) => vault.spec.depositUsd > 0),
  );
  const first = rawOf(spec.depositUsd, asset);
  const abi = metaMorphoAbi;
  return {
    reads: [
      { to: address, data: encodeFunctionData({ abi, functionName: "maxDeposit", args: [supplier] }) },
      { to: address, data: encodeFunctionData({ abi, functionName: "maxWithdraw", args: [supplier] }) },
      { to: address, data: encodeFunctionData({ abi, functionName: "totalAssets" }) },
    ],
    plan(answers) {
      const [room, free, total] = answers.map(BigInt) as [bigint, bigint, bigint];
      const amount = (first * BigInt(1 + random.below(50))) / 1_000n;
      const isIn = total < first / 2n || (total < 2n * first && random.next() < 0.5);
      const moved = isIn ? least(amount, room / 2n) : least(amount, free / 2n);
      if (moved === 0n) return [];
      const by = [supplier, address] as const;
      const make = () =>
        isIn
          ? vaultCall(by, "deposit", [moved, supplier])
          : vaultCall(by, "withdraw", [moved, supplier, supplier]);
      return [{ from: supplier, make }];
    },
  };
}

/** The allocator moves a part of what one market has, and does not lend, into another. */
function reallocationRound({ actors, morpho, markets, vaults }: MorphoDeployment, random: Random): Round {
  const { address } = vaults.prime;
  const names = Object.keys(MORPHO_VAULTS.prime.capsUsd) as MorphoMarketName[];
  const from = markets[random.pick(names)];
  const to = markets[random.pick(names.filter((name) => markets[name] !== from))];
  const ofMorpho = ({ id }: MorphoMarket) => [
    { to: morpho, data: encodeFunctionData({ abi: morphoAbi, functionName: "market", args: [id] }) },
    {
      to: morpho,
      data: encodeFunctionData({ abi: morphoAbi, functionName: "position", args: [id, address] }),
    },
  ];
  const config = encodeFunctionData({ abi: metaMorphoAbi, functionName: "config", args: [to.id] });
  return {
    reads: [...ofMorpho(from), ...ofMorpho(to), { to: address, data: config }],
    plan(answers) {
      const [fromMarket, fromPosition, toMarket, toPosition, toConfig] = answers as [Hex, Hex, Hex, Hex, Hex];
      const source = holding(fromMarket, fromPosition);
      const target = holding(toMarket, toPosition);
      const [cap] = decodeFunctionResult({ abi: metaMorphoAbi, functionName: "config", data: toConfig });
      const part = BigInt(2 + random.below(15));
      const amount = least((source.assets * part) / 100n, source.free / 2n, (cap - target.assets) / 2n);
      // Less is not worth a transaction.
      if (amount < rawOf(1_000, from.loan)) return [];
      const allocations = [
        { marketParams: from.params, assets: source.assets - amount },
        { marketParams: to.params, assets: maxUint256 },
      ];
      const by = [actors.allocator, address] as const;
      return [{ from: actors.allocator, make: () => vaultCall(by, "reallocate", [allocations]) }];
    },
  };
}

/** What the owner of a position has in its market, and what the market does not lend. */
function holding(market: Hex, position: Hex): { assets: bigint; free: bigint } {
  const abi = morphoAbi;
  const totals = decodeFunctionResult({ abi, functionName: "market", data: market });
  const [shares] = decodeFunctionResult({ abi, functionName: "position", data: position });
  const { totalSupplyAssets: supply, totalSupplyShares: all, totalBorrowAssets: borrow } = totals;
  return { assets: all === 0n ? 0n : (supply * shares) / all, free: supply - borrow };
}
