import type { Random } from "../../random.ts";
import { COMPUTE_BUDGET, deriveAddress, VOTE_PROGRAM } from "../chain/addresses.ts";
import { hex, join, u8, u32, u64 } from "../chain/bytes.ts";
import { type Caller, readonly, writable } from "../chain/execution.ts";
import type { LookupTables } from "../chain/keys.ts";
import type { Ledger } from "../chain/ledger.ts";
import {
  burn,
  closeAccount,
  ensureTokenAccount,
  findTokenAccount,
  mintTo,
  syncNative,
  transferChecked,
  transferLamports,
  WRAPPED_SOL,
} from "../chain/token-program.ts";
import type { TransactionPlan } from "../chain/transaction.ts";
import { route } from "../exchanges/jupiter.ts";
import { orcaWhirlpool, twoHopSwap } from "../exchanges/orca-whirlpool.ts";
import { launchToken } from "../exchanges/pump-create.ts";
import { pumpFun } from "../exchanges/pump-fun.ts";
import { countCoins, getCoin, noteLaunch } from "./coins.ts";
import type { Market } from "./genesis.ts";
import { chooseOrder, formOf, spendable } from "./orders.ts";
import type { MarketPool } from "./pools.ts";
import { TOKENS } from "./tokens.ts";

export interface PlanContext {
  readonly ledger: Ledger;
  readonly market: Market;
  readonly tables: LookupTables;
  readonly random: Random;
  /** Unix seconds. */
  readonly time: number;
}

type PlanMaker = (scene: PlanContext) => TransactionPlan | undefined;

/** What people do, and how often relative to one another. */
export const ACTIONS: readonly (readonly [weight: number, name: string, make: PlanMaker])[] = [
  [60, "swap", swap],
  [8, "swap of unwrapped SOL", swapUnwrapped],
  [12, "route over two pools", routeOverTwo],
  [3, "two-hop swap", twoHop],
  [3, "the same pool twice", twice],
  [4, "swap that fails", failingSwap],
  [2, "route that fails at its second pool", failingRoute],
  [3, "liquidity added", addLiquidity],
  [2, "liquidity removed", removeLiquidity],
  [1.5, "mint", mint],
  [1, "burn", burnSome],
  [1.5, "transfer", sendTokens],
  [0.2, "launch", launch],
  [3, "trade of a launched coin", tradeCoin],
];

const ALL = ACTIONS.reduce((sum, [weight]) => sum + weight, 0);

/** Some transaction; what cannot be done at the moment is replaced by a swap. */
export function planTransaction(scene: PlanContext): TransactionPlan {
  let left = scene.random.next() * ALL;
  for (const [weight, , make] of ACTIONS) {
    left -= weight;
    if (left < 0) return make(scene) ?? swap(scene);
  }
  return swap(scene);
}

/** What most transactions of a cluster are besides votes: a transfer, or a swap that fails. */
export function planOther(scene: PlanContext): TransactionPlan {
  return (scene.random.next() < 0.5 ? sendTokens(scene) : failingSwap(scene)) ?? swap(scene);
}

/** A validator's vote: what most transactions of a block are. */
export function planVote({ market, random }: PlanContext): TransactionPlan {
  const validator = random.pick(market.validators);
  const account = deriveAddress("vote account", validator);
  const data = join(u32(14), hex("a1b2c3d4e5f60718".repeat(14)), u64(random.below(2 ** 31)));
  return {
    feePayer: validator,
    run: ({ invoke }) =>
      invoke({ program: VOTE_PROGRAM, accounts: [writable(account), readonly(validator)], data }),
  };
}

/** Signed by one wallet, with a compute budget; half of them with lookup tables. */
function createPlan(
  { random, tables }: PlanContext,
  user: string,
  run: (caller: Caller) => void,
): TransactionPlan {
  const priority = BigInt(random.below(200_000));
  return {
    feePayer: user,
    priorityFee: priority,
    tables: random.next() < 0.5 ? tables : undefined,
    run(caller) {
      caller.invoke({ program: COMPUTE_BUDGET, accounts: [], data: join(u8(2), u32(200_000)) });
      caller.invoke({ program: COMPUTE_BUDGET, accounts: [], data: join(u8(3), u64(priority * 5n)) });
      run(caller);
    },
  };
}

function pickPool(
  { market, random }: PlanContext,
  fits: (pool: MarketPool) => boolean = () => true,
): MarketPool {
  const pools = market.pools.filter(fits);
  let left = random.next() * pools.reduce((sum, { weight }) => sum + weight, 0);
  for (const pool of pools) {
    left -= pool.weight;
    if (left < 0) return pool;
  }
  return random.pick(pools);
}

function swap(scene: PlanContext): TransactionPlan {
  const { ledger, market, random, time } = scene;
  const user = random.pick(market.wallets);
  const pool = pickPool(scene);
  return createPlan(scene, user, (caller) => {
    ensureTokenAccount(caller, { payer: user, owner: user, mint: pool.mints[0] });
    pool.exchange.swap(caller, chooseOrder(ledger, { pool, user, random, time }));
  });
}

/** A wallet that keeps its SOL unwrapped: an account for the one trade, closed at its end. */
function swapUnwrapped(scene: PlanContext): TransactionPlan {
  const { ledger, random } = scene;
  const user = deriveAddress("unwrapped wallet", random.below(12));
  const pool = pickPool(scene, ({ mints, exchange }) => mints[1] === WRAPPED_SOL && exchange !== pumpFun);
  const [mint] = pool.mints;
  if (ledger.lamportsOf(user) === 0n) return fund(scene, user);
  const held = ledger.tokens.has(findTokenAccount(ledger, user, mint)) ? spendable(ledger, user, mint) : 0n;
  return createPlan(scene, user, (caller) => {
    const account = ensureTokenAccount(caller, { payer: user, owner: user, mint: WRAPPED_SOL });
    ensureTokenAccount(caller, { payer: user, owner: user, mint });
    const isSale = held > 0n && random.next() < 0.5;
    const lamports = BigInt(50_000_000 + random.below(2_000_000_000));
    if (!isSale) {
      transferLamports(caller, { from: user, to: account, lamports });
      syncNative(caller, account);
    }
    pool.exchange.swap(caller, {
      pool,
      user,
      aToB: isSale,
      amountIn: isSale ? held : lamports,
      form: formOf(pool, random),
    });
    closeAccount(caller, { account, owner: user });
  });
}

function fund(scene: PlanContext, to: string): TransactionPlan {
  const from = scene.random.pick(scene.market.wallets);
  return createPlan(scene, from, (caller) =>
    transferLamports(caller, { from, to, lamports: 200_000_000_000n }),
  );
}

/** Two pools that share a token, the second leading on from the first. */
function pickHops(scene: PlanContext, fits?: (pool: MarketPool) => boolean) {
  const { ledger, market, random, time } = scene;
  const user = random.pick(market.wallets);
  const first = pickPool(scene, (pool) => pool.exchange !== pumpFun && (fits?.(pool) ?? true));
  const order = chooseOrder(ledger, { pool: first, user, random, time });
  const middle = first.mints[order.aToB ? 1 : 0];
  const candidates = market.pools.filter(
    (pool) =>
      pool !== first &&
      pool.exchange !== pumpFun &&
      pool.skew === 1 &&
      pool.mints.includes(middle) &&
      (fits?.(pool) ?? true),
  );
  if (candidates.length === 0) return undefined;
  const second = random.pick(candidates);
  const aToB = second.mints[0] === middle;
  return {
    user,
    amountIn: order.amountIn,
    first: order,
    second: { pool: second, aToB, form: formOf(second, random) },
    exchanges: [first.exchange, second.exchange] as const,
  };
}

function routeOverTwo(scene: PlanContext, minimumOut = 0n): TransactionPlan | undefined {
  const hops = pickHops(scene);
  if (hops === undefined) return undefined;
  const { user, amountIn, first, second, exchanges } = hops;
  return createPlan(scene, user, (caller) =>
    route(caller, {
      user,
      amountIn,
      minimumOut,
      hops: [
        { exchange: exchanges[0], order: first },
        { exchange: exchanges[1], order: second },
      ],
    }),
  );
}

function failingRoute(scene: PlanContext): TransactionPlan | undefined {
  return routeOverTwo(scene, 10n ** 18n);
}

function twoHop(scene: PlanContext): TransactionPlan | undefined {
  const hops = pickHops(scene, (pool) => pool.exchange === orcaWhirlpool);
  if (hops === undefined) return undefined;
  const { user, amountIn, first, second } = hops;
  return createPlan(scene, user, (caller) => twoHopSwap(caller, { user, amountIn, first, second }));
}

/** Both ways over one pool, in one transaction. */
function twice(scene: PlanContext): TransactionPlan {
  const { ledger, market, random, time } = scene;
  const user = random.pick(market.wallets);
  const pool = pickPool(scene, ({ exchange }) => exchange !== pumpFun);
  return createPlan(scene, user, (caller) => {
    const order = chooseOrder(ledger, { pool, user, random, time });
    const amountIn = pool.exchange.swap(caller, order);
    pool.exchange.swap(caller, { ...order, aToB: !order.aToB, amountIn: amountIn / 2n + 1n });
  });
}

function failingSwap(scene: PlanContext): TransactionPlan {
  const { ledger, market, random, time } = scene;
  const user = random.pick(market.wallets);
  const pool = pickPool(scene);
  return createPlan(scene, user, (caller) => {
    ensureTokenAccount(caller, { payer: user, owner: user, mint: pool.mints[0] });
    const order = chooseOrder(ledger, { pool, user, random, time });
    pool.exchange.swap(caller, { ...order, minimumOut: 10n ** 19n });
  });
}

function addLiquidity(scene: PlanContext): TransactionPlan {
  const { market, random } = scene;
  const user = random.pick(market.providers);
  const pool = pickPool(scene, ({ exchange, skew }) => exchange.addLiquidity !== undefined && skew === 1);
  return createPlan(scene, user, (caller) =>
    pool.exchange.addLiquidity?.(caller, { pool, user, bps: 1 + random.below(10), form: 0 }),
  );
}

function removeLiquidity(scene: PlanContext): TransactionPlan {
  const { market, random } = scene;
  const user = random.pick(market.providers);
  const pool = pickPool(scene, ({ exchange, skew }) => exchange.removeLiquidity !== undefined && skew === 1);
  return createPlan(scene, user, (caller) =>
    pool.exchange.removeLiquidity?.(caller, { pool, user, bps: 1 + random.below(40), form: 0 }),
  );
}

function mint(scene: PlanContext): TransactionPlan {
  const { ledger, market, random } = scene;
  const token = random.pick([TOKENS.TOLL, TOKENS.TIDE, TOKENS.USDC]);
  const user = random.pick(market.wallets);
  const account = findTokenAccount(ledger, user, token.mint);
  const authority = ledger.mint(token.mint).mintAuthority ?? "";
  const amount = BigInt(1 + random.below(1_000_000)) * 10n ** BigInt(token.decimals - 2);
  return {
    ...createPlan(scene, user, (caller) => mintTo(caller, { mint: token.mint, account, authority, amount })),
    signers: [authority],
  };
}

function burnSome(scene: PlanContext): TransactionPlan {
  const { ledger, market, random } = scene;
  const token = random.pick([TOKENS.TOLL, TOKENS.ORBIT, TOKENS.USDT]);
  const user = random.pick(market.wallets);
  const account = findTokenAccount(ledger, user, token.mint);
  const amount = ledger.amountOf(account) / BigInt(1_000 + random.below(9_000));
  return createPlan(scene, user, (caller) =>
    burn(caller, { mint: token.mint, account, authority: user, amount }),
  );
}

function sendTokens(scene: PlanContext): TransactionPlan {
  const { ledger, market, random } = scene;
  const [user, other] = [random.pick(market.wallets), random.pick(market.wallets)];
  const { mint } = random.pick([TOKENS.USDC, TOKENS.TOLL, TOKENS.NOVA]);
  return createPlan(scene, user, (caller) => {
    const to = ensureTokenAccount(caller, { payer: user, owner: other, mint });
    const from = findTokenAccount(ledger, user, mint);
    transferChecked(caller, { from, to, authority: user, amount: ledger.amountOf(from) / 500n });
  });
}

/** A coin is launched and its maker buys the first of it. */
function launch(scene: PlanContext): TransactionPlan {
  const { ledger, market, random } = scene;
  const user = random.pick(market.wallets);
  const coin = getCoin(countCoins(ledger));
  const { pool } = coin;
  return {
    ...createPlan(scene, user, (caller) => {
      launchToken(caller, { ...coin, user });
      noteLaunch(ledger);
      ensureTokenAccount(caller, { payer: user, owner: user, mint: pool.mints[0] });
      pumpFun.swap(caller, {
        pool,
        user,
        aToB: false,
        amountIn: BigInt(100_000_000 + random.below(900_000_000)),
        form: 0,
      });
    }),
    // The mint's own key signs for its account.
    signers: [pool.mints[0]],
  };
}

/** One of the latest few. */
function tradeCoin(scene: PlanContext): TransactionPlan | undefined {
  const { ledger, market, random } = scene;
  const count = countCoins(ledger);
  if (count === 0) return undefined;
  const { pool } = getCoin(count - 1 - random.below(Math.min(count, 5)));
  const user = random.pick(market.wallets);
  const account = findTokenAccount(ledger, user, pool.mints[0]);
  const held = ledger.amountOf(account);
  const isSale = held > 0n && random.next() < 0.6;
  const amountIn = isSale
    ? held / BigInt(1 + random.below(3))
    : BigInt(20_000_000 + random.below(1_000_000_000));
  return createPlan(scene, user, (caller) => {
    ensureTokenAccount(caller, { payer: user, owner: user, mint: pool.mints[0] });
    pumpFun.swap(caller, { pool, user, aToB: isSale, amountIn, form: 0 });
  });
}
