/** `npm run record`: final blocks into files. Exit code 1 = it ended early, 2 = the call was wrong. */

import { record } from "../../../../shared/evm/archive/record.ts";
import { readRpcLines } from "../../../../shared/evm/archive/rpc-lines.ts";
import type { LogItem } from "../../../../shared/evm/archive/select.ts";
import { knowDeployedChains } from "../../../../shared/evm/deployed-chains.ts";
import type { EvmSource, LogFilter } from "../../../../shared/evm/port.ts";
import { createEvmSource } from "../../../../shared/evm/source/source.ts";
import { sanitizeText } from "../../../../shared/logging/log.ts";
import { createPortalClient } from "../../../../shared/portal/client.ts";
import type { PortalLine } from "../../../../shared/portal/stream.ts";
import { printJson } from "../../../../shared/process/print-json.ts";
import { readNamedFile } from "../../../../shared/settings/env.ts";
import { readPortalUrls, readRpcUrls } from "../../../../shared/settings/rpc-urls.ts";
import { ConfigError } from "../../../../shared/settings/settings.ts";
import { type Factory, loadDeployments } from "../../../deployments.ts";
import { parseRecordCall, RECORD_USAGE, type RecordCall, UsageError } from "../arguments.ts";
import {
  findRecordedLogs,
  type ReadContract,
  readContractFrom,
  readContractFromPortal,
  readFromPortal,
} from "./recorded-logs.ts";

/** Where blocks come from. */
interface RecordedSource {
  /** Last block that may be recorded. */
  readonly final: number;
  readonly readContract: ReadContract;
  read(range: { fromBlock: number; toBlock: number }, filter: LogFilter): AsyncIterable<PortalLine>;
  close(): Promise<void>;
}

const SAY_EVERY_MS = 10_000;
const say = (text: string) => process.stderr.write(`${text}\n`);

async function run(call: RecordCall): Promise<void> {
  const { chainId, toBlock } = call;
  const source = await openSource(call);
  try {
    if (toBlock > source.final)
      throw new UsageError(`--to is ${toBlock}: it must not be above the last final block, ${source.final}`);
    const filter = call.isAll
      ? { topics: [] }
      : await findRecordedLogs(factoriesOf(chainId), { toBlock, read: source.readContract });
    const topics = call.isAll ? null : filter.topics;
    let saidMs = performance.now();
    const recorded = await record({
      ...call,
      manifest: { chainId, topics, ...(filter.addressed && { addressed: filter.addressed }) },
      read: (range) => source.read(range, filter),
      report({ block, logs, bytes }) {
        if (performance.now() - saidMs < SAY_EVERY_MS) return;
        saidMs = performance.now();
        say(`block ${block} of ${toBlock}: ${logs} logs, ${megabytes(bytes)} MB`);
      },
    });
    say(
      `${recorded.blocks} blocks, ${recorded.logs} logs, ${megabytes(recorded.bytes)} MB in ${call.folder}`,
    );
    const { folder, fromBlock } = call;
    if (call.asJson) printJson({ chainId, folder, fromBlock, toBlock, ...recorded });
  } finally {
    await source.close();
  }
}

function factoriesOf(chainId: number): readonly Factory[] {
  const chains = readNamedFile(process.env, { setting: "DEPLOYMENTS_FILE", load: loadDeployments });
  const chain = chains.find((each) => each.chainId === chainId);
  if (chain === undefined) throw new UsageError(`The deployments have no chain ${chainId}`);
  return chain.factories;
}

async function openSource({ chainId, portal }: RecordCall): Promise<RecordedSource> {
  const url = portal ?? readPortalUrls(process.env).get(chainId);
  if (url !== undefined) return openPortal(url, chainId);
  const urls = readRpcUrls(process.env).get(chainId);
  if (urls === undefined)
    throw new ConfigError([
      `--portal, EVM_PORTAL_${chainId} or EVM_RPC_${chainId} must name where blocks come from.`,
    ]);
  const source = createEvmSource({ chainId, urls });
  return {
    final: await readFinal(source),
    readContract: readContractFrom(source),
    read: (range, filter) => readRpcLines({ chainId, urls, ...range, items: itemsOf(filter) }),
    close: () => source.close(),
  };
}

async function openPortal(url: string, chainId: number): Promise<RecordedSource> {
  if (!/^https?:/.test(url))
    throw new ConfigError([`EVM_PORTAL_${chainId} must name a portal to record from.`]);
  const client = createPortalClient(url);
  const closing = new AbortController();
  const { signal } = closing;
  return {
    final: (await client.finalizedHead(signal))?.number ?? -1,
    readContract: readContractFromPortal(client, signal),
    read: (range, filter) => readFromPortal(client, range, { filter, signal }),
    close: async () => closing.abort(),
  };
}

function itemsOf({ topics, addressed }: LogFilter): readonly LogItem[] {
  if (topics.length === 0) return [{}];
  return [
    { topic0: topics },
    ...(addressed ? [{ topic0: addressed.topics, address: addressed.addresses }] : []),
  ];
}

async function readFinal(source: EvmSource): Promise<number> {
  const { number, hash, timestamp } = await source.head();
  return (await source.finalBlock({ number, hash, time: timestamp }))?.number ?? -1;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

try {
  knowDeployedChains(process.env.DEPLOYMENTS_FILE);
  const call = parseRecordCall(process.argv.slice(2));
  if (call === "help") process.stdout.write(RECORD_USAGE);
  else await run(call);
} catch (error) {
  const isUsage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${RECORD_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
