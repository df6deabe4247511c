import { createHash } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { desk as deskArtifact } from "../../deploy/devnet/contracts/artifacts.ts";
import { deployDevnet } from "../../deploy/devnet/deploy.ts";
import { writeDeploymentsFile } from "../../deploy/devnet/deployments-file.ts";
import { type Order, sendOrders } from "../../deploy/devnet/desk.ts";
import { POOLS } from "../../deploy/devnet/market.ts";
import { type Anvil, startAnvil } from "../../deploy/devnet/node/anvil.ts";
import type { Rpc } from "../../deploy/devnet/node/rpc.ts";
import { type Deployment, planDeployment } from "../../deploy/devnet/plan.ts";
import type { DeployedPool } from "../../deploy/devnet/pools.ts";
import { createRandom, type Random } from "../../deploy/devnet/random.ts";

export interface BenchChainOptions {
  /** A multiple of `perBlock`. */
  readonly swaps?: number;
  readonly pools?: number;
  readonly perBlock?: number;
  readonly say?: (message: string) => void;
}

/** What a right index of the chain must hold. */
export interface Expected {
  readonly pools: number;
  readonly swaps: number;
  readonly swapsByPool: Readonly<Record<string, number>>;
  readonly senders: number;
  /** Including genesis and the blocks of the deployment. */
  readonly headNumber: number;
  readonly headHash: string;
  /** Swap, Mint, PoolCreated, Initialize, Transfer …: everything eth_getLogs gives. */
  readonly logs: number;
}

export interface BenchChain {
  readonly url: string;
  readonly deploymentsFile: string;
  readonly deployment: Deployment;
  readonly expected: Expected;
  /** False where this call had to make the chain. */
  readonly fromCache: boolean;
  stop(): Promise<void>;
}

const GENESIS_S = 1_760_000_000;
/** Of which the first deploys; the others trade. */
const ACCOUNTS = 65;
const SWAP_TOPIC = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67";

/**
 * A chain of genuine swaps for benches: `perBlock` transactions of one swap each in every block, blocks two seconds
 * apart, many senders. Making 30,000 takes about half a minute; the saved chain then boots in a few seconds. It is saved
 * in the temporary folder, and checked after loading: blocks, senders and logs must be there, or it is made again.
 */
export async function buildBenchChain(options: BenchChainOptions = {}): Promise<BenchChain> {
  const { swaps = 30_000, pools = 10, perBlock = 10, say = () => {} } = options;
  if (swaps % perBlock !== 0) throw new Error(`Cannot put ${swaps} swaps into full blocks of ${perBlock}`);
  if (perBlock >= ACCOUNTS)
    throw new Error(`Cannot use ${perBlock} senders in a block: at most ${ACCOUNTS - 1}`);
  const inputs = JSON.stringify([deskArtifact.bytecode, POOLS, GENESIS_S, ACCOUNTS, "impersonated"]);
  const version = createHash("sha256").update(inputs).digest("hex").slice(0, 12);
  const folder = join(tmpdir(), "chaintables-bench");
  const files = join(folder, `${swaps}-${pools}-${perBlock}-${version}`);
  const [stateFile, expectedFile] = [`${files}.chain.json`, `${files}.expected.json`];
  const deploymentsFile = `${files}.deployments.json`;

  const saved = await readExpected(expectedFile);
  if (saved) {
    const anvil = await boot(stateFile).catch(() => null);
    if (anvil && (await matches(anvil.rpc, saved))) {
      const deployment = await planDeployment(anvil.rpc, { poolCount: pools });
      return {
        url: anvil.url,
        deploymentsFile,
        deployment,
        expected: saved,
        fromCache: true,
        stop: anvil.stop,
      };
    }
    await anvil?.stop();
    say("The saved chain is not usable; making it again.");
    await rm(expectedFile, { force: true });
  }

  const anvil = await boot();
  try {
    const deployment = await deployDevnet(anvil.rpc, { poolCount: pools });
    const blocks = swaps / perBlock;
    say(`Making ${swaps} swaps in ${blocks} blocks …`);
    await makeSwaps({ rpc: anvil.rpc, deployment, blocks, perBlock });
    const expected = await countExpected(anvil.rpc, deployment);
    if (expected.swaps !== swaps) throw new Error(`${swaps - expected.swaps} of ${swaps} swaps failed`);
    await writeDeploymentsFile(deploymentsFile, deployment);
    await anvil.saveState(stateFile);
    await writeFile(`${expectedFile}.tmp`, JSON.stringify(expected));
    await rename(`${expectedFile}.tmp`, expectedFile);
    return { url: anvil.url, deploymentsFile, deployment, expected, fromCache: false, stop: anvil.stop };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

function boot(stateFile?: string): Promise<Anvil> {
  const fixed = { accounts: ACCOUNTS, timestamp: GENESIS_S, keptStates: 20, startTimeoutMs: 120_000 };
  return startAnvil(stateFile === undefined ? fixed : { ...fixed, stateFile });
}

async function readExpected(file: string): Promise<Expected | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as Expected);
}

interface Plan {
  readonly rpc: Rpc;
  readonly deployment: Deployment;
  readonly blocks: number;
  readonly perBlock: number;
}

async function makeSwaps({ rpc, deployment, blocks, perBlock }: Plan): Promise<void> {
  const { pools, desk, accounts } = deployment;
  const random = createRandom(30_000);
  const senders = accounts.slice(1);
  // Of an impersonated transaction anvil stores the sender, as a node does. Of a signed one it recovers the sender
  // from the signature for every answer that shows it: 0.15 ms each, so that a bench would measure little but that.
  await rpc.call("anvil_autoImpersonateAccount", [true]);
  // Net USD that went into each pool's token0: swaps lead back to zero, so that no pool runs to an end.
  const netUsd = pools.map(() => 0);
  for (let block = 0; block < blocks; block++) {
    const first = random.below(senders.length);
    const orders = Array.from({ length: perBlock }, (_, i): Order => {
      const at = (block * perBlock + i) % pools.length;
      const pool = pools[at] as DeployedPool;
      const net = netUsd[at] as number;
      const { usd, ...swap } = makeSwap(pool, net, random);
      netUsd[at] = net + usd;
      return {
        from: senders[(first + i) % senders.length] as Order["from"],
        actions: [{ kind: "swap", ...swap }],
      };
    });
    await sendOrders(rpc, desk, orders);
    await rpc.call("evm_mine");
  }
}

function makeSwap({ address, spec, token0, token1 }: DeployedPool, netUsd: number, random: Random) {
  const zeroForOne = random.next() < Math.min(0.95, Math.max(0.05, 0.5 - (10 * netUsd) / spec.depthUsd));
  const usd = Math.min(spec.swapUsd * Math.exp(0.8 * random.normal()), spec.depthUsd / 10);
  const token = zeroForOne ? token0 : token1;
  const amount = BigInt(Math.ceil((usd / token.usd) * 10 ** token.decimals));
  return { pool: address, zeroForOne, amount, usd: zeroForOne ? usd : -usd };
}

interface Block {
  readonly number: string;
  readonly hash: string;
  readonly transactions: readonly { from: string }[];
}

async function countExpected(rpc: Rpc, deployment: Deployment): Promise<Expected> {
  const head = await rpc.call<Block>("eth_getBlockByNumber", ["latest", false]);
  const headNumber = Number(head.number);
  const swapsByPool: Record<string, number> = {};
  const senders = new Set<string>();
  let logs = 0;
  for (let from = 0; from <= headNumber; from += 500) {
    const to = Math.min(headNumber, from + 499);
    for (const log of await getLogs(rpc, from, to)) {
      logs++;
      if (log.topics[0] === SWAP_TOPIC) swapsByPool[log.address] = (swapsByPool[log.address] ?? 0) + 1;
    }
    const numbers = Array.from({ length: to - from + 1 }, (_, i) => toHex(from + i));
    const blocks = await rpc.batch<Block>(
      numbers.map((number) => ({ method: "eth_getBlockByNumber", params: [number, true] })),
    );
    // The deployment's blocks have one sender, who makes no swap.
    for (const block of blocks) for (const { from: sender } of block.transactions) senders.add(sender);
  }
  senders.delete(deployment.accounts[0] as string);
  const swaps = Object.values(swapsByPool).reduce((sum, count) => sum + count, 0);
  const pools = deployment.pools.length;
  return { pools, swaps, swapsByPool, senders: senders.size, headNumber, headHash: head.hash, logs };
}

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
}

function getLogs(rpc: Rpc, from: number, to: number): Promise<Log[]> {
  return rpc.call("eth_getLogs", [{ fromBlock: toHex(from), toBlock: toHex(to) }]);
}

function toHex(value: number): string {
  return `0x${value.toString(16)}`;
}

/** Samples a loaded chain: its head, and logs and senders of three stretches. */
async function matches(rpc: Rpc, expected: Expected): Promise<boolean> {
  const head = await rpc.call<Block>("eth_getBlockByNumber", ["latest", false]);
  if (head.hash !== expected.headHash || Number(head.number) !== expected.headNumber) return false;
  for (const share of [0.1, 0.5, 1]) {
    const number = Math.max(4, Math.floor(expected.headNumber * share));
    const block = await rpc.call<Block | null>("eth_getBlockByNumber", [toHex(number), true]);
    const swaps = (await getLogs(rpc, number, number)).filter(({ topics }) => topics[0] === SWAP_TOPIC);
    if (!block?.transactions.every(({ from }) => from.length === 42)) return false;
    if (swaps.length === 0 || swaps.length !== block.transactions.length) return false;
  }
  return true;
}
