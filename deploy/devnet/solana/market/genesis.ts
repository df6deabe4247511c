import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress } from "../chain/addresses.ts";
import { Ledger } from "../chain/ledger.ts";
import { findTokenAccount, TOKEN_ACCOUNT_RENT, WRAPPED_SOL } from "../chain/token-program.ts";
import { addShares } from "../exchanges/liquidity.ts";
import { mapSides } from "../exchanges/pool.ts";
import { CURVE, curveOwners, pumpFun } from "../exchanges/pump-fun.ts";
import { pumpLpMint, pumpswap, pumpswapOwners } from "../exchanges/pumpswap.ts";
import { lpMint, raydiumAmmV4 } from "../exchanges/raydium-amm-v4.ts";
import { raydiumCpmm } from "../exchanges/raydium-cpmm.ts";
import { listPools, type MarketPool } from "./pools.ts";
import { TOKENS, type TokenSpec, type TokenSymbol, unitsOf } from "./tokens.ts";

const SOL = 1_000_000_000n;
const WALLETS = 32;
const PROVIDERS = 4;
const PASSIVE_HOLDERS = 40;

export interface Market {
  readonly pools: readonly MarketPool[];
  readonly wallets: readonly string[];
  /** The wallets that provide liquidity. */
  readonly providers: readonly string[];
  /** Identities that vote, and pay for it. */
  readonly validators: readonly string[];
}

export function describeMarket(): Market {
  const wallets = Array.from({ length: WALLETS }, (_, i) => deriveAddress("wallet", i));
  return {
    pools: listPools(),
    wallets,
    providers: wallets.slice(0, PROVIDERS),
    validators: Array.from({ length: 8 }, (_, i) => deriveAddress("validator", i)),
  };
}

/** Accounts as they are before the first block: prices of that time, wallets with something of everything. */
export function createGenesis({ pools, wallets, providers, validators }: Market, time: number): Ledger {
  const ledger = new Ledger();
  for (const token of Object.values(TOKENS)) addMint(ledger, token);
  for (const wallet of [...wallets, ...validators]) ledger.lamports.set(wallet, 100_000n * SOL);
  for (const validator of validators) ledger.lamports.set(deriveAddress("vote account", validator), 1n * SOL);
  for (const pool of pools) {
    if (pool.exchange === pumpFun) addCurve(ledger, pool);
    else addPool(ledger, { pool, providers, time });
  }
  for (const [i, wallet] of wallets.entries()) fundWallet(ledger, { wallet, usd: 400_000 / (1 + i), time });
  for (const symbol of Object.keys(TOKENS) as TokenSymbol[]) addPassiveHolders(ledger, symbol, time);
  // What was set up is no change that could be taken back.
  ledger.undo.forget(ledger.undo.mark());
  return ledger;
}

function addMint(ledger: Ledger, { mint, decimals, program, transferFee, hasAuthorities }: TokenSpec): void {
  ledger.mints.set(mint, {
    decimals,
    program,
    supply: 0n,
    mintAuthority: hasAuthorities === true ? deriveAddress("mint authority", mint) : null,
    freezeAuthority: hasAuthorities === true ? deriveAddress("freeze authority", mint) : null,
    ...(transferFee !== undefined && { transferFee }),
  });
  ledger.lamports.set(mint, 1_461_600n);
}

/** A token account with something in it; what it holds is part of the supply. */
function addAccount(
  ledger: Ledger,
  { address, owner, mint, amount }: { address: string; owner: string; mint: string; amount: bigint },
): void {
  ledger.tokens.set(address, { mint, owner, amount, withheld: 0n });
  // Wrapped SOL has no supply of its own: it is the lamports.
  ledger.lamports.set(address, TOKEN_ACCOUNT_RENT + (mint === WRAPPED_SOL ? amount : 0n));
  if (mint !== WRAPPED_SOL) ledger.addSupply(mint, amount);
}

function addPool(
  ledger: Ledger,
  { pool, providers, time }: { pool: MarketPool; providers: readonly string[]; time: number },
): void {
  ledger.lamports.set(pool.address, 10_000_000n);
  const amounts = mapSides((side) =>
    unitsOf(pool.symbols[side], side === 0 ? pool.depthUsd / pool.skew : pool.depthUsd, time),
  );
  mapSides((side) =>
    addAccount(ledger, {
      address: pool.vaults[side],
      owner: pool.authority,
      mint: pool.mints[side],
      amount: amounts[side],
    }),
  );
  const shares = 1_000_000_000_000n;
  const lp = findShareMint(pool);
  if (lp === undefined) {
    for (const user of providers) addShares(ledger, { pool, user }, shares);
  } else {
    const program = pool.exchange === pumpswap ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM;
    ledger.mints.set(lp, {
      decimals: 9,
      program,
      supply: 0n,
      mintAuthority: pool.authority,
      freezeAuthority: null,
    });
    ledger.lamports.set(lp, 1_461_600n);
    for (const user of providers)
      addAccount(ledger, {
        address: findTokenAccount(ledger, user, lp),
        owner: user,
        mint: lp,
        amount: shares,
      });
  }
  if (pool.exchange === pumpswap)
    for (const owner of pumpswapOwners(pool)) addEmpty(ledger, owner, pool.mints[1]);
}

/** The mint of a pool's shares, where it has one. */
export function findShareMint(pool: MarketPool): string | undefined {
  if (pool.exchange === pumpswap) return pumpLpMint(pool);
  return pool.exchange === raydiumAmmV4 || pool.exchange === raydiumCpmm ? lpMint(pool) : undefined;
}

function addCurve(ledger: Ledger, pool: MarketPool): void {
  ledger.lamports.set(pool.address, 1_231_920n);
  addAccount(ledger, {
    address: pool.vaults[0],
    owner: pool.address,
    mint: pool.mints[0],
    amount: CURVE.supply,
  });
  if (pool.mints[1] === WRAPPED_SOL) return;
  addAccount(ledger, { address: pool.vaults[1], owner: pool.address, mint: pool.mints[1], amount: 0n });
  for (const owner of curveOwners(pool)) addEmpty(ledger, owner, pool.mints[1]);
}

function addEmpty(ledger: Ledger, owner: string, mint: string): void {
  const address = findTokenAccount(ledger, owner, mint);
  if (!ledger.tokens.has(address)) addAccount(ledger, { address, owner, mint, amount: 0n });
}

/** Tokens of a curve are bought, not given. */
const ON_CURVES: ReadonlySet<TokenSymbol> = new Set(["PUP", "KITE"]);

function fundWallet(
  ledger: Ledger,
  { wallet, usd, time }: { wallet: string; usd: number; time: number },
): void {
  for (const symbol of Object.keys(TOKENS) as TokenSymbol[]) {
    const { mint } = TOKENS[symbol];
    const amount = ON_CURVES.has(symbol) ? 0n : unitsOf(symbol, usd, time);
    addAccount(ledger, { address: findTokenAccount(ledger, wallet, mint), owner: wallet, mint, amount });
  }
}

/** Those who hold and do not trade: few with much, many with little. */
function addPassiveHolders(ledger: Ledger, symbol: TokenSymbol, time: number): void {
  if (ON_CURVES.has(symbol)) return;
  const { mint } = TOKENS[symbol];
  for (let i = 0; i < PASSIVE_HOLDERS; i++) {
    const owner = deriveAddress("bystander", symbol, i);
    const amount = unitsOf(symbol, 800_000 / (i + 1) ** 1.6, time);
    addAccount(ledger, { address: deriveAddress("bystander account", symbol, i), owner, mint, amount });
  }
}
