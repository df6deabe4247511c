import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { type AaveKit, createAaveKit } from "./aave/testkit.ts";
import { type AerodromeKit, createAerodromeKit } from "./aerodrome/testkit.ts";
import { type ChainReader, createChainReader } from "./chain-reader.ts";
import { deployDevnet } from "./deploy.ts";
import { writeDeploymentsFile } from "./deployments-file.ts";
import {
  type Action,
  type Address,
  deskTransaction,
  type Order,
  type Range,
  sendOrders,
  type Transaction,
} from "./desk.ts";
import { createEulerKit, type EulerKit } from "./euler/testkit.ts";
import { createMorphoKit, type MorphoKit } from "./morpho/testkit.ts";
import { type Anvil, type AnvilOptions, startAnvil } from "./node/anvil.ts";
import { sendTransactions } from "./node/transactions.ts";
import { type Deployment, type DeployOptions, type Family, planDeployment } from "./plan.ts";
import type { DeployedPool } from "./pools.ts";
import { createRandom } from "./random.ts";
import { createSlipstreamKit, type SlipstreamKit } from "./v3/testkit.ts";

/** Absent families = Uniswap v3 alone. */
export type TestChainOptions = AnvilOptions & DeployOptions;

export interface SendOptions {
  /** One of the chain's accounts; absent = the second. */
  readonly from?: Address;
}

export interface SwapOrder extends SendOptions {
  readonly zeroForOne: boolean;
  readonly amount: bigint;
}

export interface ReorgOptions {
  /** Random desk transactions put into each replacement block; 0 = empty blocks. */
  readonly transactionsPerBlock?: number;
  readonly seed?: number;
  /** Instead of random ones: transactions with the offset (0-based) of their replacement block. */
  readonly transactions?: readonly (readonly [Transaction, number])[];
}

/**
 * A private chain with genuine Uniswap v3, for tests. Nothing is mined until `mine` is called, so several actions can
 * share a block; every action is its own transaction except in `act`, which runs a list in one.
 */
export interface TestChain extends ChainReader {
  readonly url: string;
  readonly wsUrl: string;
  readonly anvil: Anvil;
  readonly deployment: Deployment;
  /** Uniswap's. */
  readonly pools: readonly DeployedPool[];
  /** Throws on a chain without this family. */
  readonly aerodrome: AerodromeKit;
  /** The same. PancakeSwap's and SushiSwap's pools are in `deployment`. */
  readonly slipstream: SlipstreamKit;
  /** The same. */
  readonly aave: AaveKit;
  /** The same. */
  readonly morpho: MorphoKit;
  /** The same. */
  readonly euler: EulerKit;
  readonly accounts: readonly Address[];
  /** For DEPLOYMENTS_FILE. */
  readonly deploymentsFile: string;
  /** Each of these queues a transaction and answers its hash. Amounts are raw; a swap's amount < 0 = exact output. */
  swap(pool: Address, order: SwapOrder): Promise<Hex>;
  addLiquidity(pool: Address, position: Range & { liquidity: bigint }, options?: SendOptions): Promise<Hex>;
  /** Burns and collects in one transaction. */
  removeLiquidity(
    pool: Address,
    position: Range & { liquidity: bigint },
    options?: SendOptions,
  ): Promise<Hex>;
  flash(pool: Address, amounts: readonly [bigint, bigint], options?: SendOptions): Promise<Hex>;
  act(actions: readonly Action[], options?: SendOptions): Promise<Hex>;
  /** Many transactions in one request, in order. */
  send(orders: readonly Order[]): Promise<Hex[]>;
  /** The same for transactions of any kind. */
  sendTransactions(transactions: readonly Transaction[]): Promise<Hex[]>;
  /** Mines n blocks, the first with everything queued, `intervalS` apart (default as before, 2 at first). Answers the new head. */
  mine(count?: number, options?: { intervalS?: number }): Promise<number>;
  /** Replaces the newest `depth` blocks by as many other ones. Answers the head, whose number stays. */
  reorg(depth: number, options?: ReorgOptions): Promise<number>;
  /** Random orders of one action each that fit the pools (absent = Uniswap's), for `send`. */
  randomActions(seed: number, count: number, among?: readonly DeployedPool[]): Order[];
  stop(): Promise<void>;
}

/** Boots anvil with the devnet's contracts on it; well under a second. Call `stop` in `after`. */
export async function createTestChain(options: TestChainOptions = {}): Promise<TestChain> {
  const { poolCount, families, ...anvilOptions } = options;
  const anvil = await startAnvil({ accounts: 20, ...anvilOptions });
  const directory = await mkdtemp(join(tmpdir(), "chaintables-testchain-"));
  const cleanUp = async () => {
    await anvil.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const plan = { poolCount, families };
    const fresh = Number(await anvil.rpc.call("eth_blockNumber")) === 0;
    const deployment = await (fresh ? deployDevnet : planDeployment)(anvil.rpc, plan);
    const deploymentsFile = join(directory, "deployments.json");
    await writeDeploymentsFile(deploymentsFile, deployment);
    return assemble({ anvil, deployment, deploymentsFile, stop: cleanUp });
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

interface Parts {
  readonly anvil: Anvil;
  readonly deployment: Deployment;
  readonly deploymentsFile: string;
  readonly stop: () => Promise<void>;
}

function assemble({ anvil, deployment, deploymentsFile, stop }: Parts): TestChain {
  const { rpc } = anvil;
  const { desk, pools, accounts } = deployment;
  const reader = createChainReader(anvil.url);
  const defaultSender = accounts[1] as Address;

  const send: TestChain["send"] = (orders) => sendOrders(rpc, desk, orders);
  const act: TestChain["act"] = async (actions, { from = defaultSender } = {}) =>
    (await send([{ from, actions }]))[0] as Hex;
  const { client } = reader;
  const {
    aerodrome: ofAerodrome,
    slipstream: ofSlipstream,
    aave: ofAave,
    morpho: ofMorpho,
    euler: ofEuler,
  } = deployment;
  const aerodrome = ofAerodrome && createAerodromeKit({ rpc, client, deployment: ofAerodrome });
  const slipstream = ofSlipstream && createSlipstreamKit({ rpc, client, deployment: ofSlipstream });
  const aave = ofAave && createAaveKit({ rpc, client, deployment: ofAave });
  const morpho = ofMorpho && createMorphoKit(rpc, ofMorpho);
  const euler = ofEuler && createEulerKit({ rpc, client, deployment: ofEuler });
  const randomActions: TestChain["randomActions"] = (seed, count, among = pools) => {
    const random = createRandom(seed);
    return Array.from({ length: count }, () => ({
      from: random.pick(accounts),
      actions: [randomAction(random.pick(among), random)],
    }));
  };

  return {
    ...reader,
    url: anvil.url,
    wsUrl: anvil.wsUrl,
    anvil,
    deployment,
    pools,
    get aerodrome() {
      return present(aerodrome, "aerodrome-v2");
    },
    get slipstream() {
      return present(slipstream, "slipstream");
    },
    get aave() {
      return present(aave, "aave-v3");
    },
    get morpho() {
      return present(morpho, "morpho-v1");
    },
    get euler() {
      return present(euler, "euler-v2");
    },
    accounts,
    deploymentsFile,
    swap: (pool, { zeroForOne, amount, ...sender }) =>
      act([{ kind: "swap", pool, zeroForOne, amount }], sender),
    addLiquidity: (pool, position, sender) => act([{ kind: "mint", pool, ...position }], sender),
    removeLiquidity: (pool, position, sender) =>
      act(
        [
          { kind: "burn", pool, ...position },
          { kind: "collect", pool, lower: position.lower, upper: position.upper },
        ],
        sender,
      ),
    flash: (pool, [amount0, amount1], sender) => act([{ kind: "flash", pool, amount0, amount1 }], sender),
    act,
    send,
    sendTransactions: (transactions) => sendTransactions(rpc, transactions),
    async mine(count = 1, { intervalS } = {}) {
      // As the chain's interval, not anvil_mine's parameter: that one loses against it, and reorgs follow it too.
      if (intervalS !== undefined) await rpc.call("anvil_setBlockTimestampInterval", [intervalS]);
      await rpc.call("anvil_mine", [`0x${count.toString(16)}`]);
      return reader.headNumber();
    },
    async reorg(depth, { transactionsPerBlock = 2, seed = depth, transactions } = {}) {
      const made = randomActions(seed, transactionsPerBlock * depth).map(
        ({ from, actions }, i) =>
          [deskTransaction(desk, from, actions), Math.floor(i / transactionsPerBlock)] as const,
      );
      await rpc.call("anvil_reorg", [depth, transactions ?? made]);
      return reader.headNumber();
    },
    randomActions,
    stop,
  };
}

function present<T>(kit: T | undefined, family: Family): T {
  if (kit === undefined) throw new Error(`This chain was made without "${family}" in its families`);
  return kit;
}

function randomAction(pool: DeployedPool, random: ReturnType<typeof createRandom>): Action {
  const { address, token0, token1, spec, startTick, tickSpacing } = pool;
  const kind = random.next();
  if (kind < 0.85) {
    const zeroForOne = random.next() < 0.5;
    const token = zeroForOne ? token0 : token1;
    const usd = spec.swapUsd * Math.exp(0.8 * random.normal());
    return {
      kind: "swap",
      pool: address,
      zeroForOne,
      amount: BigInt(Math.ceil((usd / token.usd) * 10 ** token.decimals)),
    };
  }
  const centre = Math.round(startTick / tickSpacing) * tickSpacing;
  const width = tickSpacing * (1 + random.below(50));
  const range = { lower: centre - width, upper: centre + width };
  if (kind < 0.97)
    return { kind: "mint", pool: address, ...range, liquidity: BigInt(1 + random.below(1_000_000_000)) };
  return {
    kind: "flash",
    pool: address,
    amount0: BigInt(random.below(1_000_000)),
    amount1: BigInt(random.below(1_000_000)),
  };
}
