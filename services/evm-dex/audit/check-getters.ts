import { protocolOf } from "../protocols/index.ts";
import type { RawPair } from "../protocols/protocol.ts";
import { inactivePools, type PoolRow, poolEvents, poolStates } from "../store/collections.ts";
import { getPool, OLDEST_FIRST } from "../store/queries.ts";
import { type GaugeRow, gauges } from "../store/v2-collections.ts";
import { checkFee } from "./check-fees.ts";
import { compareValues, type Finding, requireThat } from "./finding.ts";
import type { AuditRpc } from "./rpc.ts";
import { type ChainScope, type PoolScope, sampleRows } from "./scope.ts";

interface AtBlock {
  readonly pool: PoolRow;
  readonly gauges: readonly GaugeRow[];
  readonly block: number;
}

/**
 * The stored state against the pool's getters (slot0, getReserves …) at the block of its last event, the state before
 * the first one at the block before that, and balances at theirs.
 */
export async function checkGetters(scope: PoolScope, rpc: AuditRpc): Promise<Finding[]> {
  const { checkpoint, pool, state, store } = scope;
  const protocol = protocolOf(pool.protocol);
  const findings = await checkFee(scope, rpc);
  if (state === undefined) return findings;
  if (state.lastBlock >= 0) {
    const there = await stateAt(rpc, { ...scope, block: state.lastBlock });
    const values = there === undefined ? {} : protocol.auditValues(there.state);
    for (const [name, stored] of Object.entries(protocol.auditValues(protocol.read(state.state))))
      findings.push(
        compareValues(
          { pool: pool.poolAddress, at: `block ${state.lastBlock}` },
          {
            field: `${poolStates.name}.state`,
            stored: `${name} ${stored}`,
            expected: name in values ? `${name} ${values[name]}` : null,
          },
        ),
      );
  }
  if (state.balanceBlock >= 0 && protocol.tvlSource === "balances") {
    const place = { pool: pool.poolAddress, at: `block ${state.balanceBlock}` };
    findings.push(
      ...compareBalances(
        place,
        poolStates.name,
        state,
        await balancesAt(rpc, { pool, block: state.balanceBlock }),
      ),
    );
  }
  // Without its first event nothing says until when a pool was as its anchor.
  if (pool.createdBlock >= checkpoint.fromBlock || scope.before !== undefined) return findings;
  const [first] = await store.find(poolEvents, {
    filter: { chainId: pool.chainId, poolAddress: pool.poolAddress },
    order: OLDEST_FIRST,
    limit: 1,
  });
  if (first === undefined) return findings;
  const block = first.blockNumber - 1;
  const before = await stateAt(rpc, { ...scope, block });
  findings.push(
    compareValues(
      { pool: pool.poolAddress, at: `block ${block}` },
      {
        field: `${poolStates.name}.anchor`,
        stored: state.anchor,
        expected: before && protocol.write(before.state),
      },
    ),
  );
  return findings;
}

/** A sample of inactive pools against the getters at the block that they were read at. */
export async function checkInactive(scope: ChainScope): Promise<Finding[]> {
  const { chainId, checkpoint, rpc, store } = scope;
  const findings: Finding[] = [];
  for (const row of await sampleRows(scope, inactivePools, { filter: { chainId }, by: "poolAddress" })) {
    const { balanceBlock, poolAddress } = row;
    const pool = await getPool(store, { chainId, poolAddress });
    const place = { pool: poolAddress, at: `block ${balanceBlock}` };
    const { blockNumber, fromBlock } = checkpoint;
    findings.push(
      requireThat(place, {
        field: "quiet_pools.poolAddress",
        holds: pool !== undefined && pool.createdBlock < fromBlock,
        stored: poolAddress,
        rule: "a pool older than the index",
      }),
      requireThat(place, {
        field: "quiet_pools.balanceBlock",
        holds: balanceBlock >= fromBlock - 1 && balanceBlock <= blockNumber,
        stored: balanceBlock,
        rule: `from ${fromBlock - 1} to ${blockNumber}`,
      }),
    );
    if (pool === undefined || rpc === undefined) continue;
    const own = await store.find(gauges, { filter: { chainId, poolAddress } });
    const there = await stateAt(rpc, { pool, gauges: own, block: balanceBlock });
    const expected = there && protocolOf(pool.protocol).write(there.state);
    findings.push(
      compareValues(place, { field: "quiet_pools.state", stored: row.state, expected }),
      ...compareBalances(place, "quiet_pools", row, there?.balances),
    );
  }
  return findings;
}

/** The state by getters at a block, with the balances that it starts from; undefined where the node lacks it. */
async function stateAt(
  rpc: AuditRpc,
  at: AtBlock,
): Promise<{ state: unknown; balances: RawPair } | undefined> {
  const { block, pool } = at;
  const protocol = protocolOf(pool.protocol);
  const gauge = at.gauges.find(({ createdBlock }) => createdBlock <= block);
  const results = await rpc.call(protocol.anchorCalls(pool, block, gauge));
  if (protocol.tvlSource === "reserves") {
    const state = protocol.anchor(results, { amount0: 0n, amount1: 0n }, gauge);
    return state === undefined ? undefined : { state, balances: protocol.reserves(state) };
  }
  const balances = await balancesAt(rpc, { pool, block });
  const state = balances && protocol.anchor(results, balances, gauge);
  return balances === undefined || state === undefined ? undefined : { state, balances };
}

async function balancesAt(
  rpc: AuditRpc,
  { block, pool }: { pool: PoolRow; block: number },
): Promise<RawPair | undefined> {
  const contracts = [pool.token0Address, pool.token1Address];
  const [balance0, balance1] = await rpc.balances(pool.poolAddress, { contracts, block });
  if (balance0 === null || balance0 === undefined || balance1 === null || balance1 === undefined)
    return undefined;
  return { amount0: balance0, amount1: balance1 };
}

function compareBalances(
  place: { pool: string; at: string },
  collection: string,
  stored: { balance0: bigint; balance1: bigint },
  there: RawPair | undefined,
): Finding[] {
  return [
    compareValues(place, {
      field: `${collection}.balance0`,
      stored: stored.balance0,
      expected: there?.amount0,
    }),
    compareValues(place, {
      field: `${collection}.balance1`,
      stored: stored.balance1,
      expected: there?.amount1,
    }),
  ];
}
