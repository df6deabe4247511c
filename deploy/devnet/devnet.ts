import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { Hex } from "viem";
import { deployDevnet } from "./deploy.ts";
import { writeDeploymentsFile } from "./deployments-file.ts";
import { HISTORY_S, tradeHistory } from "./history.ts";
import { type Anvil, AnvilStartError, startAnvil } from "./node/anvil.ts";
import type { Rpc } from "./node/rpc.ts";
import { type Deployment, deployedAddresses, FAMILIES, type Family, planDeployment } from "./plan.ts";
import type { DeployedPool } from "./pools.ts";
import { createTraders, runTraders, type TradedBlock, type Traders } from "./traders.ts";
import { preparePayments } from "./usdc/demo-wallets.ts";

export interface DevnetOptions {
  /** The chain lives in `<dataDir>/devnet`. */
  readonly dataDir: string;
  /** 0 = a free port. */
  readonly port: number;
  readonly blockTimeMs?: number;
  /** How long before now a new chain begins; absent = eight days. */
  readonly historyS?: number;
  /** Beside Uniswap v3; absent = all. */
  readonly families?: readonly Family[];
  /** For what a person should know; never the ready line. */
  readonly say?: (message: string) => void;
}

export interface Devnet {
  readonly url: string;
  readonly wsUrl: string;
  readonly chainId: number;
  /** Another genesis than at the last start = another chain: an index of the old one is worthless. */
  readonly genesisHash: Hex;
  readonly resumed: boolean;
  readonly deploymentsFile: string;
  readonly pools: readonly { address: Hex; name: string; fee: number }[];
  /** Trades and saves until the signal, then saves once more and ends the node. Rejects when the node dies. */
  run(signal: AbortSignal): Promise<void>;
}

const ACCOUNTS = 32;
/** Each kept state holds the hashes of all blocks before it: 300 of them would take gigabytes after a day. */
const KEPT_STATES = 40;
/** Longest time between two saves: what a kill -9 loses must stay within the depth that an index can unwind. */
const MAX_SAVE_EVERY_MS = 400_000;
/** What a kill -9 loses is never final. */
const FINAL_DEPTH = 256;
const MIN_SAVE_EVERY_MS = 20_000;
/** A save stops the node for as long as it takes: at most this share of the time. */
const SAVE_SHARE = 1 / 25;
/**
 * The node keeps call traces in memory, the saved chain has none: the node is restarted from the file now and then
 * (after about twelve hours; a few seconds without answers). Measured: 360 MB after 8,000 blocks and 17,000
 * transactions, 240 MB after a restart from the file.
 */
const RESTART_AFTER_TRANSACTIONS = 25_000;
/** Downtime shorter than this is left as a gap in the chain. */
const GAP_S = 600;

/** Opens the chain of `dataDir`, or makes one with a week of history, and answers when it serves requests. */
export async function openDevnet(options: DevnetOptions): Promise<Devnet> {
  const { dataDir, port, blockTimeMs = 2_000, historyS = HISTORY_S, say = () => {} } = options;
  const { families = FAMILIES } = options;
  const directory = join(dataDir, "devnet");
  const stateFile = join(directory, "chain.json");
  const deploymentsFile = join(directory, "deployments.json");

  const continued = await resume({ stateFile, port, families, say });
  const { anvil, deployment } = continued ?? (await create({ port, historyS, families }));
  try {
    const traders = createTraders(anvil.rpc, deployment, { seed: Date.now() });
    await fillHistory({ anvil, traders, say });
    await preparePayments(anvil.rpc);
    await writeDeploymentsFile(deploymentsFile, deployment);
    await anvil.saveState(stateFile);
    return {
      url: anvil.url,
      wsUrl: anvil.wsUrl,
      chainId: deployment.chainId,
      genesisHash: deployment.genesisHash,
      resumed: continued !== undefined,
      deploymentsFile,
      pools: deployment.pools.map(describePool),
      run: (signal) => runDevnet({ anvil, traders, stateFile, blockTimeMs }, signal),
    };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

function describePool({ address, token0, token1, fee }: DeployedPool): {
  address: Hex;
  name: string;
  fee: number;
} {
  return { address, name: `${token0.symbol}/${token1.symbol}`, fee };
}

interface OpenChain {
  readonly anvil: Anvil;
  readonly deployment: Deployment;
}

/** The saved chain, running; undefined where there is no file, or an unusable one, which is reported and moved aside. */
async function resume(at: {
  stateFile: string;
  port: number;
  families: readonly Family[];
  say: (message: string) => void;
}): Promise<OpenChain | undefined> {
  const { stateFile, port, families, say } = at;
  if (!existsSync(stateFile)) return undefined;
  let reason: string;
  try {
    const anvil = await continueChain(stateFile, port);
    const deployment = await planDeployment(anvil.rpc, { families });
    if (await isDeployed(anvil.rpc, deployment)) return { anvil, deployment };
    await anvil.stop();
    reason = "it holds other contracts than this version deploys";
  } catch (error) {
    // Only anvil's own refusal speaks against the file; a taken port or a missing binary does not.
    if (!(error instanceof AnvilStartError) || error.portInUse) throw error;
    reason = error.message;
  }
  const aside = `${stateFile}.unusable`;
  await rename(stateFile, aside);
  say(
    `The saved chain cannot be continued (${reason}); kept as ${aside}. A new chain starts: an index of the old one no longer matches.`,
  );
  return undefined;
}

function continueChain(stateFile: string, port: number): Promise<Anvil> {
  return startAnvil({
    port,
    accounts: ACCOUNTS,
    stateFile,
    keptStates: KEPT_STATES,
    finalDepth: FINAL_DEPTH,
    startTimeoutMs: 300_000,
  });
}

async function isDeployed(rpc: Rpc, deployment: Deployment): Promise<boolean> {
  const codes = await rpc.batch<Hex>(
    deployedAddresses(deployment).map((address) => ({ method: "eth_getCode", params: [address, "latest"] })),
  );
  return codes.every((code) => code !== "0x");
}

async function create(options: {
  port: number;
  historyS: number;
  families: readonly Family[];
}): Promise<OpenChain> {
  const { port, historyS, families } = options;
  const timestamp = Math.floor(Date.now() / 1000) - historyS - 60;
  const anvil = await startAnvil({
    port,
    accounts: ACCOUNTS,
    timestamp,
    keptStates: KEPT_STATES,
    finalDepth: FINAL_DEPTH,
  });
  try {
    // A first run must not open with warnings about contracts that we broke ourselves.
    return { anvil, deployment: await deployDevnet(anvil.rpc, { families, plantFaults: false }) };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

/** Trades what lies between the head and now: the past week on a new chain, the downtime on a continued one. */
async function fillHistory(at: {
  anvil: Anvil;
  traders: Traders;
  say: (message: string) => void;
}): Promise<void> {
  const head = await at.anvil.rpc.call<{ timestamp: Hex }>("eth_getBlockByNumber", ["latest", false]);
  const range = { fromS: Number(head.timestamp), toS: Math.floor(Date.now() / 1000) };
  if (range.toS - range.fromS < GAP_S) return;
  const blocks = await tradeHistory(at.traders, range);
  at.say(`Filled ${((range.toS - range.fromS) / 3_600).toFixed(1)} hours of history with ${blocks} blocks.`);
}

interface Running {
  readonly anvil: Anvil;
  readonly traders: Traders;
  readonly stateFile: string;
  readonly blockTimeMs: number;
}

async function runDevnet(parts: Running, signal: AbortSignal): Promise<void> {
  const { traders, stateFile, blockTimeMs } = parts;
  let { anvil } = parts;
  let dueMs = Date.now() + MIN_SAVE_EVERY_MS;
  let transactions = 0;
  const onBlock = (block: TradedBlock) => {
    transactions += block.transactions.length;
  };
  try {
    while (!signal.aborted) {
      // Trading pauses for a save: the node answers no request while it dumps.
      const untilSave = AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, dueMs - Date.now()))]);
      await runTraders(traders, { blockTimeMs, signal: untilSave, onBlock });
      const startMs = Date.now();
      await anvil.saveState(stateFile);
      const tookMs = Date.now() - startMs;
      dueMs = Date.now() + Math.min(MAX_SAVE_EVERY_MS, Math.max(MIN_SAVE_EVERY_MS, tookMs / SAVE_SHARE));
      if (transactions > RESTART_AFTER_TRANSACTIONS && !signal.aborted) {
        const { port } = anvil;
        await anvil.stop();
        anvil = await continueChain(stateFile, port);
        transactions = 0;
      }
    }
  } catch (error) {
    // The request that meets a dead node fails a moment before its end is known.
    const grace = new Promise<boolean>((resolve) => setTimeout(resolve, 500, false));
    const dead = await Promise.race([anvil.exited.then(() => true), grace]);
    throw dead ? new Error("the node ended unexpectedly", { cause: error }) : error;
  } finally {
    await anvil.stop();
  }
}
