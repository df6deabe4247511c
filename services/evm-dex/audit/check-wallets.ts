import { getPool } from "../store/queries.ts";
import { gauges, knownWallets, lpAnchors } from "../store/v2-collections.ts";
import { countOldContracts } from "../store/wallet-queries.ts";
import { compareValues, type Finding, requireThat } from "./finding.ts";
import { type ChainScope, sampleRows } from "./scope.ts";

/**
 * What wallets held before the index, against the wallets that are known and, with a node, balanceOf just before the
 * first indexed block.
 */
export async function checkWallets(scope: ChainScope): Promise<Finding[]> {
  const { chainId, checkpoint, rpc, store } = scope;
  const { blockNumber, fromBlock } = checkpoint;
  const findings: Finding[] = [];
  const contracts = await countOldContracts(store, checkpoint);
  for (const row of await sampleRows(scope, knownWallets, { filter: { chainId }, by: "wallet" })) {
    const place = { pool: "", at: `wallet ${row.wallet}` };
    findings.push(
      requireThat(place, {
        field: "known_wallets.contracts",
        holds: row.contracts <= contracts,
        stored: row.contracts,
        rule: `at most ${contracts}`,
      }),
      requireThat(place, {
        field: "known_wallets.readAtBlock",
        holds: row.readAtBlock >= fromBlock - 1 && row.readAtBlock <= blockNumber,
        stored: row.readAtBlock,
        rule: `from ${fromBlock - 1} to ${blockNumber}`,
      }),
    );
  }
  for (const row of await sampleRows(scope, lpAnchors, { filter: { chainId }, by: "wallet" })) {
    const { poolAddress, wallet } = row;
    const place = { pool: poolAddress, at: `wallet ${wallet}` };
    const pool = await getPool(store, { chainId, poolAddress });
    const known = await store.get(knownWallets, { chainId, wallet });
    findings.push(
      requireThat(place, {
        field: "lp_anchors.poolAddress",
        holds: pool !== undefined && pool.createdBlock < fromBlock,
        stored: poolAddress,
        rule: "a pool older than the index",
      }),
      requireThat(place, {
        field: "known_wallets (row)",
        holds: known !== undefined,
        stored: known === undefined ? "no row" : "a row",
        rule: "a row",
      }),
    );
    if (rpc === undefined) continue;
    const own = await store.find(gauges, {
      filter: { chainId, poolAddress, createdBlock: { lt: fromBlock } },
    });
    const contracts = [poolAddress, ...own.map(({ gauge }) => gauge)];
    const [balance, inGauge] = await rpc.balances(wallet, { contracts, block: fromBlock - 1 });
    const staked = own.length === 0 ? 0n : inGauge;
    findings.push(
      compareValues(place, { field: "lp_anchors.balance", stored: row.balance, expected: balance }),
      compareValues(place, { field: "lp_anchors.staked", stored: row.staked, expected: staked }),
    );
  }
  return findings;
}
