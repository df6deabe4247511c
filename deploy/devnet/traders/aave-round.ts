import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import type { AaveDeployment, AaveReserve } from "../aave/deploy.ts";
import { AAVE_USERS } from "../aave/market.ts";
import { aaveTransactions as transactions } from "../aave/transactions.ts";
import { aaveDataProviderAbi, aaveOracleAbi, aavePoolAbi, erc20Abi } from "../contracts/aave/abi.ts";
import type { Address } from "../node/transactions.ts";
import type { Random } from "../random.ts";
import type { Planned, Round } from "./round.ts";
import { wanderTicks } from "./wander.ts";

/** How often a user supplies or borrows, and how often a price feed reports, in parts of all blocks. */
const ACTION_SHARE = 0.5;
const REPORT_SHARE = 0.15;
const HOUR_S = 3_600;

interface Position {
  readonly user: Address;
  readonly reserve: AaveReserve;
  readonly isDebt: boolean;
}

/** Rounds of what the market's users do, which moves utilisation up and down within hours, and of new prices. */
export function createAaveRounds(
  { pool, dataProvider, oracle, reserves, users }: AaveDeployment,
  { random }: { random: Random },
): () => Round {
  const positions = users.flatMap((user, i) => positionsOf(user, { reserves, spec: AAVE_USERS[i] }));
  return () => {
    const position = random.next() < ACTION_SHARE ? random.pick(positions) : undefined;
    const reported = random.next() < REPORT_SHARE ? random.pick(reserves) : undefined;
    return {
      reads: position ? readsOf(position, { pool, dataProvider, oracle }) : [],
      plan(answers, timeS): Planned[] {
        const planned: Planned[] = [];
        if (position) {
          const make = chooseAction(look(position, answers), { pool, timeS, random });
          if (make) planned.push({ from: position.user, make });
        }
        if (reported) {
          const { token, feed } = reported;
          const usd = token.usd * 1.0001 ** wanderTicks(token.symbol, timeS);
          planned.push({ make: (from) => transactions.setPrice(from, feed, usd) });
        }
        return planned;
      },
    };
  };
}

/** A user moves in the reserves that it began in, on the side that it began on: no user borrows what it supplies. */
function positionsOf(
  user: Address,
  { reserves, spec }: { reserves: readonly AaveReserve[]; spec: (typeof AAVE_USERS)[number] | undefined },
): Position[] {
  const { supplies = {}, borrows = {} } = spec ?? {};
  const isDebt = Object.keys(borrows).length > 0;
  return reserves
    .filter((reserve) => (isDebt ? borrows : supplies)[reserve.spec.token] !== undefined)
    .map((reserve) => ({ user, reserve, isDebt }));
}

function readsOf(
  { user, reserve }: Position,
  { pool, dataProvider, oracle }: { pool: Address; dataProvider: Address; oracle: Address },
): Round["reads"] {
  const asset = reserve.token.address;
  const ofProvider = { abi: aaveDataProviderAbi } as const;
  const balanceOf = (owner: Address) =>
    encodeFunctionData({ abi: erc20Abi, functionName: "balanceOf", args: [owner] });
  return [
    {
      to: dataProvider,
      data: encodeFunctionData({ ...ofProvider, functionName: "getReserveData", args: [asset] }),
    },
    {
      to: dataProvider,
      data: encodeFunctionData({ ...ofProvider, functionName: "getUserReserveData", args: [asset, user] }),
    },
    {
      to: pool,
      data: encodeFunctionData({ abi: aavePoolAbi, functionName: "getUserAccountData", args: [user] }),
    },
    {
      to: oracle,
      data: encodeFunctionData({ abi: aaveOracleAbi, functionName: "getAssetPrice", args: [asset] }),
    },
    { to: asset, data: balanceOf(reserve.aToken) },
    { to: asset, data: balanceOf(user) },
  ];
}

/** A position and its reserve, in raw tokens. */
interface View extends Position {
  readonly supply: bigint;
  readonly debt: bigint;
  readonly liquidity: bigint;
  /** The user's own. */
  readonly supplied: bigint;
  readonly owed: bigint;
  readonly inHand: bigint;
  readonly mayBorrow: bigint;
}

function look(position: Position, answers: readonly Hex[]): View {
  const [reserveData, userData, account, price, liquidity, inHand] = answers as [
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
    Hex,
  ];
  const abi = aaveDataProviderAbi;
  const [, , supply, stableDebt, variableDebt] = decodeFunctionResult({
    abi,
    functionName: "getReserveData",
    data: reserveData,
  });
  const [supplied, , owed] = decodeFunctionResult({
    abi,
    functionName: "getUserReserveData",
    data: userData,
  });
  const [, debtBase, availableBase] = decodeFunctionResult({
    abi: aavePoolAbi,
    functionName: "getUserAccountData",
    data: account,
  });
  const unit = 10n ** BigInt(position.reserve.token.decimals);
  // A price may be reported in the same block: who is near the limit stays there.
  const mayBorrow = availableBase * 8n < debtBase ? 0n : (availableBase * unit) / BigInt(price) / 4n;
  return {
    ...position,
    ...{ supply, supplied, owed },
    debt: stableDebt + variableDebt,
    liquidity: BigInt(liquidity),
    inHand: BigInt(inHand),
    mayBorrow,
  };
}

type Make = Planned["make"];

/** Undefined where nothing is worth doing. Far enough from every limit that no other action in the block is in its way. */
function chooseAction(
  view: View,
  { pool, timeS, random }: { pool: Address; timeS: number; random: Random },
): Make | undefined {
  const { reserve, supply, debt, liquidity } = view;
  const asset = reserve.token.address;
  const part = (whole: bigint, from: number, to: number) =>
    (whole * BigInt(Math.round(1e6 * (from + (to - from) * random.next())))) / 1_000_000n;
  const act = (verb: "supply" | "withdraw" | "borrow" | "repay", ...limits: bigint[]): Make | undefined => {
    const [amount = 0n] = limits.sort((a, b) => (a < b ? -1 : 1));
    // Amounts below a thousandth of a token are not moved.
    if (amount * 1_000n < 10n ** BigInt(reserve.token.decimals)) return undefined;
    return (from) => transactions[verb](from, pool, { asset, amount });
  };
  if (view.isDebt) {
    const target = targetOf(reserve, timeS);
    const goal = ((debt + liquidity) * BigInt(Math.round(target * 1e6))) / 1_000_000n;
    if (debt > goal) return act("repay", part(debt - goal, 0.2, 0.7), view.owed / 2n, view.inHand / 2n);
    return act(
      "borrow",
      part(goal - debt, 0.2, 0.7),
      view.mayBorrow,
      liquidity / 4n,
      leftOf(reserve, { cap: reserve.spec.borrowCap, used: debt }) / 2n,
    );
  }
  if (random.next() < 0.5)
    return act("withdraw", part(supply, 0.001, 0.02), view.supplied / 8n, liquidity / 8n);
  const left = leftOf(reserve, { cap: reserve.spec.supplyCap, used: supply });
  return act("supply", part(supply, 0.001, 0.02), view.inHand / 8n, left / 4n);
}

/** The utilisation that borrowers go for, back and forth within some hours, as far as their collateral lets them. */
function targetOf({ token }: AaveReserve, timeS: number): number {
  const phase = token.symbol.charCodeAt(0);
  return 0.42 + 0.25 * Math.sin((2 * Math.PI * timeS) / (5.7 * HOUR_S) + phase);
}

function leftOf({ token }: AaveReserve, { cap, used }: { cap: number; used: bigint }): bigint {
  if (cap === 0) return used;
  const left = BigInt(cap) * 10n ** BigInt(token.decimals) - used;
  return left > 0n ? left : 0n;
}
