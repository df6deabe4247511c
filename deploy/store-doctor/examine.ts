import { createPick } from "../../services/evm-dex/audit/sample.ts";
import type { ChainDeployments } from "../../services/evm-dex/deployments.ts";
import { reindexes } from "../../services/shared/ingest/reindex.ts";
import { ingestStatus } from "../../services/shared/ingest-status/status-row.ts";
import type { Collection } from "../../services/shared/storage/collection.ts";
import { inspectStore } from "../../services/shared/storage/inspect.ts";
import type { PageCheck, TableSize } from "../../services/shared/storage/inspection.ts";
import { leases } from "../../services/shared/storage/lease.ts";
import { openStore } from "../../services/shared/storage/open.ts";
import type { Store } from "../../services/shared/storage/port.ts";
import type { StoreName } from "../../services/shared/storage/stores.ts";
import type { KeptRows } from "../../services/solana/store/kept-rows.ts";
import { type Finding, Findings } from "./finding.ts";
import { compareSchema, judgeSchema, type SchemaRow } from "./schema.ts";
import { lookSettled } from "./scope.ts";
import * as evmDex from "./services/evm-dex.ts";
import { KEYS, LEDGER, lookAtLedger } from "./services/gateway.ts";
import * as lending from "./services/lending.ts";
import * as solana from "./services/solana.ts";
import {
  judgeLeases,
  judgeParts,
  judgeReindexes,
  judgeStatus,
  type Leader,
  watchLeases,
} from "./unfinished.ts";

export interface StoreOptions {
  readonly dataDir: string;
  readonly mongodbUrl: string | undefined;
  /** Where parts of history are. */
  readonly historyDir: string;
  readonly leaseTtlMs: number;
  /** Of evm-dex: absent chains are known by what is stored. */
  readonly deployments: readonly ChainDeployments[];
  readonly kept: KeptRows;
  readonly pages: PageCheck;
  /** Pools, entities and tokens of each chain that are looked at. */
  readonly samples: number;
  readonly seed: number;
  /** Between two looks at a store without views; all but tests use the default. */
  readonly pauseMs?: number;
}

/** Which chain an index is of, and how far it goes. */
export interface ChainHead {
  readonly chain: string;
  /** Block, or slot. */
  readonly block: number;
  readonly hash: string;
  readonly time: string;
  readonly fromBlock: number;
  /** What tells this chain from others of its id. */
  readonly identity: string | null;
}

export interface StoreReport {
  readonly service: StoreName;
  readonly place: string;
  readonly storedBytes: number;
  readonly tables: readonly TableSize[] | null;
  /** "unread" where pages were not to be read, or the server sees to its files. */
  readonly pages: "whole" | "damaged" | "unread";
  readonly schema: readonly SchemaRow[];
  readonly chains: readonly ChainHead[];
  readonly leaders: readonly Leader[];
  /** Values and rows that were compared, by check. */
  readonly compared: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
}

const OWN = {
  "evm-dex": evmDex.COLLECTIONS,
  lending: lending.COLLECTIONS,
  solana: solana.COLLECTIONS,
} as const;
const OF_INGESTS: readonly Collection[] = [ingestStatus, leases];

/** Looks at the store of one service; undefined where there is none. */
export async function examineStore(
  service: StoreName,
  options: StoreOptions,
): Promise<StoreReport | undefined> {
  const { dataDir, mongodbUrl, pages } = options;
  const place = { service, dataDir, ...(mongodbUrl !== undefined && { mongodbUrl }) };
  const seen = await inspectStore({ ...place, pages });
  if (seen === undefined) return undefined;
  const findings = new Findings({ service, chain: null });
  for (const fault of seen.pageFaults ?? [])
    findings.fault("pages", {
      what: `${seen.place} is damaged: ${fault}.`,
      todo: "Stop what uses it and restore it from a backup; an index can be deleted and read again instead.",
    });
  const collections = collectionsOf(service, seen.declarations);
  const schema = compareSchema(seen.declarations, collections);
  judgeSchema(schema, findings);
  const base = {
    ...{
      service,
      place: seen.place,
      storedBytes: seen.size.storedBytes,
      tables: seen.tables ?? null,
      schema,
    },
    pages: seen.pageFaults === undefined ? "unread" : seen.pageFaults.length === 0 ? "whole" : "damaged",
  } as const;
  const parts = [findings];
  let chains: readonly ChainHead[] = [];
  let leaders: readonly Leader[] = [];
  if (schema.every(({ state }) => state === "same")) {
    try {
      const store = await openStore({ ...place, access: "read" });
      try {
        await store.declare(collections);
        leaders = (await isDeclared(store, leases)) ? await watchLeases(store, options.leaseTtlMs) : [];
        judgeLeases(leaders, findings);
        chains = await listChains(service, store);
        parts.push(...(await lookAtAll(service, store, { ...options, chains })));
      } finally {
        await store.close();
      }
    } catch (error) {
      findings.fault("rows", {
        what: `Rows cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
        todo: "Restore a backup where the file is damaged; else look at what the store says.",
      });
    }
  }
  return { ...base, chains, leaders, ...joined(parts) };
}

/** Those that this version declares; the ledger is there only once something was sold, and so are markers of deletions. */
function collectionsOf(service: StoreName, stored: ReadonlyMap<string, string>): readonly Collection[] {
  const present = (all: readonly Collection[]) => (all.some(({ name }) => stored.has(name)) ? all : []);
  if (service === "gateway") return [...KEYS, ...present(LEDGER)];
  return [...OWN[service], ...present(OF_INGESTS), ...present([reindexes])];
}

function joined(parts: readonly Findings[]): Pick<StoreReport, "compared" | "findings"> {
  const compared: Record<string, number> = {};
  for (const part of parts)
    for (const [check, count] of Object.entries(part.compared))
      compared[check] = (compared[check] ?? 0) + count;
  return { compared, findings: parts.flatMap(({ list }) => list) };
}

async function listChains(service: StoreName, store: Store): Promise<ChainHead[]> {
  const timeOf = (seconds: number) => new Date(seconds * 1_000).toISOString();
  if (service === "gateway") return [];
  if (service === "solana") {
    const rows = await store.find(solana.checkpoints, {});
    return rows.map(({ slot, blockhash, time, fromSlot, fromBlockhash }) => ({
      ...{ chain: "solana", block: slot, hash: blockhash, time: timeOf(time) },
      ...{ fromBlock: fromSlot, identity: fromBlockhash === "" ? null : fromBlockhash },
    }));
  }
  const rows = await store.find(service === "evm-dex" ? evmDex.checkpoints : lending.checkpoints, {});
  return rows.map(({ chainId, blockNumber, blockHash, blockTime, fromBlock, genesisHash }) => ({
    ...{ chain: String(chainId), block: blockNumber, hash: blockHash, time: timeOf(blockTime) },
    ...{ fromBlock, identity: genesisHash },
  }));
}

async function lookAtAll(
  service: StoreName,
  store: Store,
  options: StoreOptions & { readonly chains: readonly ChainHead[] },
): Promise<Findings[]> {
  if (service === "gateway") {
    const findings = new Findings({ service, chain: null });
    if (await hasLedger(store)) await lookAtLedger(store, findings);
    return [findings];
  }
  const whole = new Findings({ service, chain: null });
  if (await isDeclared(store, reindexes)) await judgeReindexes(store, whole);
  const parts = [whole];
  for (const { chain, fromBlock } of options.chains) {
    const place = { service, chain };
    const chainId = chain === "solana" ? 0 : Number(chain);
    const beside = new Findings(place);
    if (await isDeclared(store, ingestStatus)) await judgeStatus(store, chainId, beside);
    if (service === "evm-dex") await judgeParts(options.historyDir, { chainId, fromBlock }, beside);
    parts.push(beside, await lookAtChain(service, store, { ...options, chainId, place }));
  }
  return parts;
}

function lookAtChain(
  service: Exclude<StoreName, "gateway">,
  store: Store,
  options: StoreOptions & {
    readonly chainId: number;
    readonly place: ConstructorParameters<typeof Findings>[0];
  },
): Promise<Findings> {
  const { chainId, kept, pauseMs, place, samples, seed } = options;
  const at = { key: { chainId }, place, ...(pauseMs !== undefined && { pauseMs }) };
  if (service === "lending")
    return lookSettled(store, {
      ...at,
      checkpoints: lending.checkpoints,
      look: (view, findings) => lending.lookAtLending(view, findings, { chainId, samples }),
    });
  if (service === "solana")
    return lookSettled(store, {
      ...at,
      checkpoints: solana.checkpoints,
      look: (view, findings) =>
        solana.lookAtSolana(view, findings, { kept, samples, pick: createPick(seed) }),
    });
  const deployments = options.deployments.find((each) => each.chainId === chainId);
  return lookSettled(store, {
    ...at,
    checkpoints: evmDex.checkpoints,
    look: (view, findings) => evmDex.lookAtEvmDex(view, findings, { chainId, deployments, samples, seed }),
  });
}

const hasLedger = (store: Store) => isDeclared(store, LEDGER[0]);

/** Some collections are there only once they were needed. */
async function isDeclared(store: Store, collection: Collection): Promise<boolean> {
  return store.declare([collection]).then(
    () => true,
    () => false,
  );
}
