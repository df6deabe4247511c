import { decodeDecimals, decodeText, encodeCall } from "../../shared/evm/abi.ts";
import type { Hex } from "../../shared/evm/port.ts";
import { readV2State } from "../protocols/aerodrome-v2/state.ts";
import { logDecoderOf, protocolOf } from "../protocols/index.ts";
import { matchesDecoder, type PoolCreatedEvent } from "../protocols/protocol.ts";
import { type PoolRow, pools, tokens } from "../store/collections.ts";
import { getTokens } from "../store/queries.ts";
import { type GaugeRow, gauges } from "../store/v2-collections.ts";
import { compareRows } from "./compare-rows.ts";
import { type Finding, requireThat } from "./finding.ts";
import { intOf } from "./return-data.ts";
import type { AuditRpc } from "./rpc.ts";
import type { PoolScope } from "./scope.ts";

const SYMBOL = encodeCall("0x95d89b41");
const DECIMALS = encodeCall("0x313ce567");

/** A pool's row against its factory's event and the time of that block; `fee` where the factory has it, not the event. */
function compareCreation(
  pool: PoolRow,
  created: PoolCreatedEvent | undefined,
  at: { time: number | undefined; fee: number | null },
): Finding[] {
  const { chainId, createdBlock, poolAddress } = pool;
  const place = { pool: poolAddress, at: `block ${createdBlock}` };
  const rule = "the block of the factory's PoolCreated";
  const block = requireThat(place, {
    field: "pools.createdBlock",
    holds: created !== undefined,
    stored: createdBlock,
    rule,
  });
  if (created === undefined) return [block];
  const { stable = false, tickSpacing, token0, token1 } = created;
  const fee = created.fee ?? at.fee;
  const expected = {
    ...{ chainId, poolAddress, stable, tickSpacing, token0Address: token0, token1Address: token1 },
    ...(at.time !== undefined && { createdAt: at.time }),
    ...(fee !== null && { fee }),
  };
  return [
    block,
    ...compareRows({ collection: pools, pool: poolAddress, stored: [pool], expected: [expected] }),
  ];
}

/** A pool's row against the event of its creation, and its tokens against their contracts. */
export async function checkCreation(scope: PoolScope, rpc: AuditRpc): Promise<Finding[]> {
  const { checkpoint, pool, store } = scope;
  const { chainId, createdBlock, dexAddress, poolAddress } = pool;
  const { created: decoder, tier } = protocolOf(pool.protocol);
  const logs = await rpc.logs({
    ...{ addresses: [dexAddress], topics: [decoder.topic] },
    ...{ fromBlock: createdBlock, toBlock: createdBlock },
  });
  const created = logs
    .filter((log) => matchesDecoder(log, decoder))
    .map((log) => decoder.decode(log))
    .find((event) => event.pool === poolAddress);
  const [block] = await rpc.blocks([createdBlock]);
  const isUntold = created?.fee === null && tier !== undefined;
  const [fee] = isUntold
    ? await rpc.call([tier.call(created, { factory: dexAddress, block: createdBlock })])
    : [];
  const raw = intOf(fee);
  const addresses = [pool.token0Address, pool.token1Address];
  const stored = await getTokens(store, { chainId, addresses });
  const texts = await rpc.call(
    stored.flatMap(({ address }) =>
      [SYMBOL, DECIMALS].map((data) => ({ to: address as Hex, data, block: checkpoint.blockNumber })),
    ),
  );
  return [
    ...compareCreation(pool, created, {
      time: block?.time,
      fee: raw === null ? null : raw * (tier?.unit ?? 1),
    }),
    ...compareRows({
      collection: tokens,
      pool: poolAddress,
      stored,
      expected: stored.map(({ address }, i) => ({
        ...{ chainId, address },
        symbol: decodeText(texts[2 * i] ?? null) ?? "",
        decimals: decodeDecimals(texts[2 * i + 1] ?? null),
      })),
    }),
  ];
}

/** The gauges of a pool against the one of its state. */
function compareGauges({ gauges: stored, pool, state }: PoolScope): Finding[] {
  if (state === undefined || protocolOf(pool.protocol).gauges === undefined) return [];
  const { gauge } = readV2State(state.state);
  const place = { pool: pool.poolAddress, at: "" };
  const known = stored.map((row) => row.gauge);
  const holds = gauge === undefined ? known.length === 0 : known.includes(gauge);
  return [requireThat(place, { field: "gauges.gauge", holds, stored: known.join(), rule: String(gauge) })];
}

/** The gauges of a pool against their voter's events. */
export async function checkGauges(scope: PoolScope, rpc: AuditRpc | undefined): Promise<Finding[]> {
  const { pool } = scope;
  const decoder = protocolOf(pool.protocol).gauges?.created;
  const findings = compareGauges(scope);
  if (rpc === undefined || decoder === undefined) return findings;
  for (const row of scope.gauges) {
    const logs = await rpc.logs({
      ...{ addresses: [row.voter], topics: [decoder.topic] },
      ...{ fromBlock: row.createdBlock, toBlock: row.createdBlock },
    });
    const reader = logDecoderOf(protocolOf(pool.protocol));
    const expected = logs.flatMap((log): GaugeRow[] => {
      const created = reader.gaugeCreated(log);
      if (created?.pool !== pool.poolAddress) return [];
      return [{ ...row, gauge: created.event.gauge, poolAddress: created.pool }];
    });
    findings.push(...compareRows({ collection: gauges, pool: pool.poolAddress, stored: [row], expected }));
  }
  return findings;
}
