import { readInt } from "../../../shared/evm/abi.ts";
import { type EthCall, type EvmSource, UpstreamError } from "../../../shared/evm/port.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { FeeTier } from "../../protocols/protocol.ts";
import type { PoolRow, TokenRow } from "../../store/collections.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";
import type { TokenReader } from "./token-reader.ts";

/** Rows of new pools and of tokens seen for the first time. Nodes must have the state of `block`. */
export async function readPoolRows(
  { tokenReader, source }: { tokenReader: TokenReader; source: EvmSource },
  { chainId, created, block }: { chainId: number; created: readonly CreatedPool[]; block: number },
): Promise<{ pools: PoolRow[]; tokens: TokenRow[] }> {
  if (created.length === 0) return { pools: [], tokens: [] };
  const { all, fresh } = await tokenReader.read(created, { block });
  const tiers = await readFeeTiers(source, { created, block });
  const pools = created.map((pool): PoolRow => {
    const token0 = all.get(pool.token0) as TokenRow;
    const token1 = all.get(pool.token1) as TokenRow;
    return {
      chainId,
      poolAddress: pool.pool,
      dexAddress: pool.factory.address,
      dexName: pool.factory.dexName,
      family: pool.factory.family,
      protocol: pool.factory.kind,
      token0Address: token0.address,
      token0Symbol: token0.symbol,
      token0Decimals: token0.decimals,
      token1Address: token1.address,
      token1Symbol: token1.symbol,
      token1Decimals: token1.decimals,
      createdAt: pool.time,
      createdBlock: pool.block,
      fee: pool.fee ?? tiers.get(pool) ?? 0,
      tickSpacing: pool.tickSpacing,
      stable: pool.stable ?? false,
    };
  });
  return { pools, tokens: fresh };
}

/**
 * Fees that PoolCreated lacks, one call per tier: at any block if the tier cannot change, else at the pool's
 * creation, or at `block` where nodes have pruned that: some answer "0x" then, as if there were no code. Pools of a
 * factory whose call fails are left out. Throws where the factory has no code at `block`: a node of another chain.
 */
async function readFeeTiers(
  source: EvmSource,
  { created, block }: { created: readonly CreatedPool[]; block: number },
): Promise<Map<CreatedPool, number>> {
  const untold = created.filter((pool) => pool.fee === null && tierOf(pool) !== undefined);
  const { tiers } = await callFeeTiers(source, untold, (pool) =>
    tierOf(pool)?.mayChange ? pool.block : block,
  );
  const left = await callFeeTiers(
    source,
    untold.filter((pool) => !tiers.has(pool)),
    () => block,
  );
  const [withoutCode] = left.withoutCode;
  if (withoutCode !== undefined)
    throw new UpstreamError(`The node has no code at block ${block} for ${withoutCode.factory.address}.`);
  return new Map([...tiers, ...left.tiers]);
}

async function callFeeTiers(
  source: EvmSource,
  pools: readonly CreatedPool[],
  blockOf: (pool: CreatedPool) => number,
): Promise<{ tiers: Map<CreatedPool, number>; withoutCode: CreatedPool[] }> {
  const keyOf = (pool: CreatedPool) =>
    [pool.factory.address, pool.tickSpacing, pool.stable, blockOf(pool)].join(":");
  const calls = new Map<string, EthCall>();
  for (const pool of pools) {
    const call = tierOf(pool)?.call(pool, { factory: pool.factory.address, block: blockOf(pool) });
    if (call !== undefined) calls.set(keyOf(pool), call);
  }
  const results = calls.size === 0 ? [] : await source.call([...calls.values()]);
  const resultOf = new Map([...calls.keys()].map((key, i) => [key, results[i] ?? "0x"]));
  const tiers = new Map<CreatedPool, number>();
  const withoutCode: CreatedPool[] = [];
  for (const pool of pools) {
    const result = resultOf.get(keyOf(pool)) ?? null;
    if (result === "0x") withoutCode.push(pool);
    else if (result !== null && result.length >= 66)
      tiers.set(pool, readInt(result, 0) * (tierOf(pool)?.unit ?? 1));
  }
  return { tiers, withoutCode };
}

function tierOf(pool: CreatedPool): FeeTier | undefined {
  return protocolOf(pool.factory.kind).tier;
}
