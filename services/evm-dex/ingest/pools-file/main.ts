/** `npm run pools`: exports and imports known pools. Exit code 1 = nothing done, 2 = the call was wrong. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { createEvmSource } from "../../../shared/evm/source/source.ts";
import { sanitizeText } from "../../../shared/logging/log.ts";
import { printJson } from "../../../shared/process/print-json.ts";
import { readRpcUrls } from "../../../shared/settings/rpc-urls.ts";
import { ConfigError, readSettings } from "../../../shared/settings/settings.ts";
import { locateStore } from "../../../shared/settings/store-location.ts";
import { tryAcquireLease } from "../../../shared/storage/lease.ts";
import { openStore } from "../../../shared/storage/open.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { type ChainDeployments, loadDeployments } from "../../deployments.ts";
import { COLLECTIONS } from "../../store/collections.ts";
import { SQLITE_FILE } from "../../store/sqlite-file.ts";
import { POOLS_USAGE, type PoolsCall, parsePoolsCall, UsageError } from "./arguments.ts";
import { exportPools, NothingToExport } from "./export.ts";
import { BadPoolsFile, type PoolsFile, readPoolsFile } from "./format.ts";
import { importPools, planImport, UnfitPoolsFile } from "./import.ts";
import { samplePools } from "./sample.ts";

const say = (text: string) => process.stderr.write(`${text}\n`);

async function run(call: PoolsCall): Promise<void> {
  const { dataDir, isLocal, mongodbUrl, running, note } = locateStore(process.env);
  if (note !== undefined) say(note);
  const deploymentsFile = process.env.DEPLOYMENTS_FILE ?? running?.deploymentsFile;
  // Of a local chain that does not run, nothing says what is deployed there.
  const registry = deploymentsFile === undefined && isLocal ? [] : loadDeployments(deploymentsFile);
  const chainOf = (chainId: number): ChainDeployments => {
    const chain = registry.find((each) => each.chainId === chainId);
    if (chain === undefined) throw new UsageError(`The deployments have no chain ${chainId}.`);
    return chain;
  };
  const file = call.kind === "import" ? await open(call) : undefined;
  const chain = chainOf(call.kind === "export" ? call.chainId : (file?.chainId as number));
  const store = await openStore({
    service: "evm-dex",
    dataDir,
    ...SQLITE_FILE,
    access: call.kind === "export" ? "read" : "write",
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  try {
    await store.declare(COLLECTIONS);
    if (call.kind === "export") await writeExport(store, { chain, out: call.out, asJson: call.asJson });
    else if (file !== undefined) {
      const urls =
        readRpcUrls(process.env).get(chain.chainId) ?? localUrls(running?.localRpc?.[chain.chainId]);
      await takeIn(store, { file, chain, urls, samples: call.samples, asJson: call.asJson });
    }
  } finally {
    await store.close();
  }
}

function localUrls(url: string | undefined): readonly string[] | undefined {
  return url === undefined ? undefined : [url];
}

async function open({ file: path, sha256 }: Extract<PoolsCall, { kind: "import" }>): Promise<PoolsFile> {
  try {
    const file = await readPoolsFile(await readFile(path));
    if (sha256 !== undefined && sha256 !== file.sha256)
      throw new BadPoolsFile(`its SHA-256 is ${file.sha256}, not ${sha256}`);
    return file;
  } catch (error) {
    if (!(error instanceof BadPoolsFile)) throw error;
    throw new UnfitPoolsFile(`Cannot import ${path}: ${error.message}.`);
  }
}

async function writeExport(
  store: Store,
  { chain, out, asJson }: { chain: ChainDeployments; out: string; asJson: boolean },
): Promise<void> {
  const writer = await exportPools(store, chain);
  const { bytes, sha256 } = await writer.pack();
  const temporary = `${out}.${process.pid}`;
  await writeFile(temporary, bytes);
  await rename(temporary, out);
  const { pools, tokens, gauges } = writer.counts;
  say(
    `${pools} pools, ${tokens} tokens and ${gauges} gauges of chain ${chain.chainId}: ${bytes.length} bytes in ${out}.`,
  );
  if (asJson) printJson({ chainId: chain.chainId, file: out, bytes: bytes.length, sha256, ...writer.counts });
  else process.stdout.write(`${sha256}\n`);
}

async function takeIn(
  store: Store,
  options: {
    file: PoolsFile;
    chain: ChainDeployments;
    urls: readonly string[] | undefined;
    samples: number;
    asJson: boolean;
  },
): Promise<void> {
  const { file, chain, urls, samples } = options;
  const { LEASE_TTL_MS: ttlMs } = readSettings(process.env, ["LEASE_TTL_MS"]);
  const name = `evm-dex-ingest-${chain.chainId}`;
  let other = "";
  const onWait = (holder: string) => {
    other = holder;
  };
  const lease = await tryAcquireLease(store, { name, holder: `pools-${process.pid}`, ttlMs, onWait });
  if (lease === undefined)
    throw new UnfitPoolsFile(`An ingest holds the lease ${name} (${other}): stop it first.`);
  try {
    const plan = await planImport(store, { file, chain });
    const compared = await compareWithChain({ file, urls, samples });
    const guard = () => [lease.guard()];
    const { pools, gauges } = await importPools(store, { file, chain, plan, guard });
    say(`Imported ${pools} pools and ${gauges} gauges of ${plan.length} contracts:`);
    for (const { contract, progress } of plan) say(`  ${contract.address} is known up to block ${progress}`);
    if (!options.asJson) return;
    const contracts = plan.map(({ contract, progress }) => ({ address: contract.address, upTo: progress }));
    printJson({ chainId: chain.chainId, sha256: file.sha256, pools, gauges, compared, contracts });
  } finally {
    await lease.release();
  }
}

async function compareWithChain(options: {
  file: PoolsFile;
  urls: readonly string[] | undefined;
  samples: number;
}): Promise<{ readonly pools: number; readonly blocks: number } | null> {
  const { file, urls, samples } = options;
  if (urls === undefined || samples === 0) {
    say(
      `Nothing was compared with the chain: that needs EVM_RPC_${file.chainId}. The pools are as true as their file.`,
    );
    return null;
  }
  const source = createEvmSource({ chainId: file.chainId, urls });
  try {
    const { pools, blocks } = await samplePools(source, { file, count: samples, random: Math.random });
    say(`Compared with the chain: ${pools} pools, in ${blocks} blocks. They are equal.`);
    return { pools, blocks };
  } finally {
    await source.close();
  }
}

try {
  const call = parsePoolsCall(process.argv.slice(2));
  if (call === "help") process.stdout.write(POOLS_USAGE);
  else await run(call);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const isOwn = isUsage || error instanceof UnfitPoolsFile || error instanceof NothingToExport;
  const message = error instanceof Error ? error.message : String(error);
  // The store's and the node's own words may hold an address with credentials.
  process.stderr.write(`${isOwn ? message : sanitizeText(message)}\n${isUsage ? `\n${POOLS_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
