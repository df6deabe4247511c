import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { type HeaderRow, headers } from "../../shared/index/evm/headers.ts";
import {
  type CheckpointRow,
  COLLECTIONS,
  checkpoints,
  discoveries,
  poolEvents,
} from "../store/collections.ts";
import { compareRows } from "./compare-rows.ts";
import { compareValues, type Finding, requireThat } from "./finding.ts";
import type { AuditRpc } from "./rpc.ts";
import type { ChainScope } from "./scope.ts";

/** The stored headers against each other and the checkpoint: a chain that ends with it. A backfill stores none. */
function compareHeaders(stored: readonly HeaderRow[], checkpoint: CheckpointRow): Finding[] {
  const { blockHash, blockNumber, blockTime } = checkpoint;
  const byNumber = new Map(stored.map((row) => [row.number, row]));
  const at = { pool: "", at: `block ${blockNumber}` };
  const tip = byNumber.get(blockNumber);
  const ofTip =
    tip === undefined
      ? []
      : [
          compareValues(at, { field: "checkpoints.blockHash", stored: blockHash, expected: tip.hash }),
          compareValues(at, { field: "checkpoints.blockTime", stored: blockTime, expected: tip.time }),
        ];
  // While the index catches up, headers of its last pause may be left behind a gap.
  const isAtHead = tip !== undefined && blockNumber === checkpoint.chainHead;
  const links = stored.flatMap((row) => {
    const place = { pool: "", at: `block ${row.number}` };
    const parent = byNumber.get(row.number - 1);
    const { number, parentHash } = row;
    const rule = `at most ${blockNumber}`;
    const next = "followed by the next one, or the checkpoint's";
    const isFollowed = !isAtHead || number === blockNumber || byNumber.has(number + 1);
    return [
      requireThat(place, { field: "headers.number", holds: number <= blockNumber, stored: number, rule }),
      requireThat(place, { field: "headers (row)", holds: isFollowed, stored: number, rule: next }),
      ...(parent === undefined
        ? []
        : [compareValues(place, { field: "headers.parentHash", stored: parentHash, expected: parent.hash })]),
    ];
  });
  return [...ofTip, ...links];
}

/** The checkpoint, the final block, headers and discoveries, against each other and, with a node, its blocks. */
export async function checkIndex(scope: ChainScope): Promise<Finding[]> {
  const { chainId, checkpoint, rpc, store } = scope;
  const stored = await store.find(headers, { filter: { chainId } });
  const final = await store.get(finalBlocks, { chainId });
  const [lastEvent] = await store.find(poolEvents, {
    filter: { chainId },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    limit: 1,
    fields: ["blockNumber"],
  });
  const [firstEvent] = await store.find(poolEvents, {
    filter: { chainId },
    limit: 1,
    fields: ["blockNumber"],
  });
  const { blockNumber, chainHead, fromBlock } = checkpoint;
  const at = { pool: "", at: `block ${blockNumber}` };
  const rules = [
    {
      field: "checkpoints.blockNumber",
      holds: (lastEvent?.blockNumber ?? 0) <= blockNumber,
      stored: blockNumber,
      rule: "no event after it",
    },
    {
      field: "checkpoints.fromBlock",
      holds: (firstEvent?.blockNumber ?? fromBlock) >= fromBlock,
      stored: fromBlock,
      rule: "no event before it",
    },
    {
      field: "checkpoints.chainHead",
      holds: chainHead >= blockNumber,
      stored: chainHead,
      rule: `at least ${blockNumber}`,
    },
    {
      field: "final_blocks.number",
      holds: final === undefined || final.number <= blockNumber,
      stored: final?.number,
      rule: `at most ${blockNumber}`,
    },
  ];
  return [
    ...rules.map((rule) => requireThat(at, rule)),
    ...compareHeaders(stored, checkpoint),
    ...(await checkDiscoveries(scope)),
    ...(rpc === undefined ? [] : await checkBlocks(rpc, { checkpoint, final, stored })),
  ];
}

/** Factories and voters are read up to the index's first block; of younger ones that is known to be nothing. */
async function checkDiscoveries({ chainId, checkpoint, deployments, store }: ChainScope): Promise<Finding[]> {
  const stored = await store.find(discoveries, { filter: { chainId } });
  const blockNumber = checkpoint.fromBlock - 1;
  const factories = deployments?.factories ?? [];
  const voters = factories.flatMap(({ rewards }) => (rewards === undefined ? [] : [rewards.voter]));
  const names = new Set<string>([...factories.map(({ address }) => address), ...voters]);
  // Without the registry of this chain, the names are taken as stored.
  const known = factories.length === 0 ? stored.map(({ factory }) => factory) : [...names];
  return compareRows({
    collection: discoveries,
    pool: "",
    stored,
    expected: known.map((factory) => ({ chainId, factory, blockNumber })),
  });
}

async function checkBlocks(
  rpc: AuditRpc,
  rows: {
    checkpoint: CheckpointRow;
    final: { number: number; hash: string; time: number } | undefined;
    stored: readonly HeaderRow[];
  },
): Promise<Finding[]> {
  const { checkpoint, final, stored } = rows;
  const claims = [
    {
      number: checkpoint.blockNumber,
      name: "checkpoints",
      fields: { blockHash: "hash", blockTime: "time" },
      row: checkpoint,
    },
    { number: checkpoint.fromBlock, name: "checkpoints", fields: { fromTime: "time" }, row: checkpoint },
    { number: 0, name: "checkpoints", fields: { genesisHash: "hash" }, row: checkpoint },
    ...(final === undefined
      ? []
      : [{ number: final.number, name: "final_blocks", fields: { hash: "hash", time: "time" }, row: final }]),
    ...stored.map((row) => ({
      number: row.number,
      name: "headers",
      fields: { hash: "hash", parentHash: "parentHash", time: "time" },
      row,
    })),
  ];
  const blocks = await rpc.blocks(claims.map(({ number }) => number));
  return claims.flatMap(({ fields, name, number, row }, i) =>
    Object.entries(fields).map(([field, property]) =>
      compareValues(
        { pool: "", at: `block ${number}` },
        {
          field: `${name}.${field}`,
          stored: row[field as keyof typeof row],
          expected: blocks[i]?.[property as "hash" | "parentHash" | "time"] ?? "no such block",
        },
      ),
    ),
  );
}

/** Rows of a chain without a checkpoint, in any collection. */
export async function checkChains({ store }: ChainScope): Promise<Finding[]> {
  const known = (await store.find(checkpoints, {})).map(({ chainId }) => chainId).sort((a, b) => a - b);
  const gaps = [...known, undefined].map((end, i) => ({
    ...(i > 0 && { gt: known[i - 1] as number }),
    ...(end !== undefined && { lt: end }),
  }));
  const findings: Finding[] = [];
  for (const collection of COLLECTIONS) {
    for (const chainId of gaps) {
      const [row] = await store.find(collection, { filter: { chainId }, limit: 1 });
      const at = { pool: "", at: `chain ${row?.chainId ?? "ids"}` };
      const rule = "a chain with a checkpoint";
      const field = `${collection.name}.chainId`;
      findings.push(
        requireThat(at, { field, holds: row === undefined, stored: row?.chainId ?? "all", rule }),
      );
    }
  }
  return findings;
}
