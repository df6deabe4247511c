import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AerodromePool } from "../../../../deploy/devnet/aerodrome/deploy.ts";
import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../../deploy/devnet/testkit.ts";
import { dexaPools } from "../../contract.ts";
import { loadDeployments } from "../../deployments.ts";
import { dexaPoolsHandler } from "../../endpoints/evm/dexa/v2/pools.handler.ts";
import { endpoint as uniswapEndpoint } from "../../endpoints/evm/dexb/v3/pool.endpoint.ts";
import { dexbPoolHandler } from "../../endpoints/evm/dexb/v3/pool.handler.ts";
import { poolEvents, pools } from "../../store/collections.ts";
import { readPrices } from "../../store/price-links.ts";
import { depsOf, rowsOf } from "../kit/answers.ts";
import { startTestIngest, type TestIngest } from "../kit/harness.ts";
import { Attacker, type Token } from "./attacker.ts";

const CHAIN_ID = 8453 as const;
const DAY = 86_400;
/** Days at which every pool is traded in before the attacks begin. */
const DAYS = [1, 12, 24, 36] as const;

/** All that is published at one block and may be moved. */
export interface Published {
  /** USD by address of a token that has a price. */
  readonly prices: ReadonlyMap<string, number>;
  /** USD by address of a pool. */
  readonly tvl: ReadonlyMap<string, number>;
  readonly volume: ReadonlyMap<string, number>;
  /** The largest USD number of any answer or row. */
  readonly largestUsd: number;
}

/** A market of genuine contracts, 36 days old, with three stablecoins, and its index. */
export class Market {
  readonly chain: TestChain;
  readonly attacker: Attacker;
  readonly usdt: Token;
  readonly #ingest: TestIngest;

  private constructor(parts: { chain: TestChain; attacker: Attacker; usdt: Token; ingest: TestIngest }) {
    this.chain = parts.chain;
    this.attacker = parts.attacker;
    this.usdt = parts.usdt;
    this.#ingest = parts.ingest;
  }

  static async open(): Promise<Market> {
    const chain = await createTestChain({
      timestamp: 1_760_000_000,
      families: ["aerodrome-v2"],
      keptStates: 1_000,
    });
    const attacker = new Attacker(chain);
    const ether = `0x${(10n ** 27n).toString(16)}`;
    for (const desk of [chain.aerodrome.deployment.desk, chain.deployment.desk, attacker.from])
      await chain.anvil.rpc.call("anvil_setBalance", [desk, ether]);
    const { USDC, DAI } = chain.deployment.tokens;
    const usdt = await attacker.token("USDT", 6);
    const dollars: Dollars[] = [];
    for (const other of [USDC, DAI]) {
      const address = await attacker.pool([usdt, other], [4e6, 4e6]);
      dollars.push({ address, tokens: usdt.address < other.address ? [usdt, other] : [other, usdt] });
    }
    await chain.mine(1);
    await liveDays(chain, dollars);
    const deploymentsFile = withStablecoin(chain.deploymentsFile, usdt.address);
    const ingest = await startTestIngest({ url: chain.url, deploymentsFile });
    await ingest.catchUp();
    return new Market({ chain, attacker, usdt, ingest });
  }

  /**
   * Mines what is queued into a block, so many seconds after the one before, and indexes it. Somebody else trades in
   * every block, as on a real chain: prices that wait for time are looked at in blocks with trades.
   */
  async block(seconds: number): Promise<void> {
    const { address, token0 } = this.chain.aerodrome.pools.at(-1) as AerodromePool;
    const swap = { zeroForOne: true, amountIn: 10n ** BigInt(token0.decimals - 2) };
    await this.chain.aerodrome.swap(address, { ...swap, from: this.chain.accounts[3] as Address });
    await this.chain.mine(1, { intervalS: seconds });
    await this.#ingest.catchUp();
  }

  async published(): Promise<Published> {
    const { store } = this.#ingest;
    const deps = depsOf(store, loadDeployments(this.chain.deploymentsFile));
    const known = await store.find(pools, { filter: { chainId: CHAIN_ID } });
    const tokens = new Set(known.flatMap((pool) => [pool.token0Address, pool.token1Address]));
    const found = await readPrices(store, { chainId: CHAIN_ID, tokens, block: this.#ingest.block() });
    const prices = new Map([...found].map(([token, { usd }]) => [token, usd]));
    const tvl = new Map<string, number>();
    const volume = new Map<string, number>();
    const all: number[] = [...prices.values()];
    const add = (row: Record<string, unknown>, { pool, of24h }: { pool: string; of24h: unknown }) => {
      if (typeof row.poolTvlUsd === "number") tvl.set(pool, row.poolTvlUsd);
      if (typeof of24h === "number") volume.set(pool, of24h);
      for (const [name, cell] of Object.entries(row)) {
        if (!/usd/i.test(name)) continue;
        for (const value of [cell].flat()) if (typeof value === "number") all.push(value);
      }
    };
    const listed = await rowsOf(dexaPools, dexaPoolsHandler(deps), {
      chain_id: CHAIN_ID,
      limit: 500,
      offset: 0,
    });
    for (const row of listed) add(row, { pool: String(row.poolId), of24h: row.volume24hUsd });
    for (const { poolAddress } of known.filter((pool) => pool.family === "dexb")) {
      const params = { chain_id: CHAIN_ID, pool_address: poolAddress as Address };
      for (const row of await rowsOf(uniswapEndpoint, dexbPoolHandler(deps), params).catch(() => []))
        add(row, { pool: poolAddress, of24h: (row.swapVolumeUsd as unknown[])[2] });
    }
    const rows = await store.find(poolEvents, { fields: ["valueUsd", "feeUsd"] });
    for (const { valueUsd, feeUsd } of rows) all.push(valueUsd ?? 0, feeUsd ?? 0);
    return { prices, tvl, volume, largestUsd: Math.max(...all) };
  }

  async close(): Promise<void> {
    await this.#ingest.close();
    await this.chain.stop();
  }
}

/** A pool of two stablecoins that the devnet's plan does not have. */
interface Dollars {
  readonly address: Address;
  readonly tokens: readonly [Token, Token];
}

/** Small trades both ways in every pool, day after day: an age that counts is one in which a pool was used. */
async function liveDays(chain: TestChain, dollars: readonly Dollars[]): Promise<void> {
  const from = chain.accounts[3] as Address;
  const amountOf = (pool: { spec: { swapUsd: number } }, token: { usd: number; decimals: number }) =>
    BigInt(Math.round((pool.spec.swapUsd / 50 / token.usd) * 10 ** token.decimals));
  const tradeAll = async (zeroForOne: boolean) => {
    for (const pool of chain.aerodrome.pools) {
      const amountIn = amountOf(pool, zeroForOne ? pool.token0 : pool.token1);
      await chain.aerodrome.swap(pool.address, { zeroForOne, amountIn, from });
    }
    for (const pool of chain.pools) {
      const amount = amountOf(pool, zeroForOne ? pool.token0 : pool.token1);
      await chain.swap(pool.address, { zeroForOne, amount, from });
    }
    for (const { address, tokens } of dollars) {
      const amountIn = 10n ** BigInt(tokens[zeroForOne ? 0 : 1].decimals);
      await chain.aerodrome.swap(address, { zeroForOne, amountIn, from });
    }
  };
  let day = 0;
  for (const next of DAYS) {
    await tradeAll(true);
    await tradeAll(false);
    await chain.mine(1, { intervalS: (next - day) * DAY });
    day = next;
  }
}

function withStablecoin(file: string, address: string): string {
  const deployments = JSON.parse(readFileSync(file, "utf8")) as {
    evmDex: { chains: { stablecoins: string[] }[] };
  };
  for (const chain of deployments.evmDex.chains) chain.stablecoins.push(address);
  const path = join(mkdtempSync(join(tmpdir(), "chaintables-attacks-")), "deployments.json");
  writeFileSync(path, JSON.stringify(deployments));
  return path;
}
