import { setTimeout as sleep } from "node:timers/promises";
import { KEY, type Layout } from "./layout.ts";

const SOL = "So11111111111111111111111111111111111111112";

/** Trades of SOL, newest first. */
export function tradesPath({ limit, offset }: { limit: number; offset: number }): string {
  return `/api/v1/solana/token-transactions?token_address=${SOL}&days=30&limit=${limit}&offset=${offset}`;
}

/** Requests of every service that answer 200 over a layout's chains: lists, single pools, trades, candles, lending. */
export async function pathsOf(layout: Layout): Promise<string[]> {
  const pools = layout.chain.pools.map(({ address }) => address);
  const paths = [
    "/evm/chains?chain_id=8453",
    "/evm/dexb/v3/pools?chain_id=8453&limit=20",
    "/evm/dexa/v2/pools?chain_id=8453&limit=20",
    "/evm/lending/lendinga/v3/pools?chain_id=8453",
    "/evm/lending/lendingc/v1/vaults?chain_id=8453",
    ...pools.map((pool) => `/evm/dexb/v3/pool?chain_id=8453&pool_address=${pool}`),
    "/api/v1/solana/tokens?limit=20",
    ...[0, 20, 40].map((offset) => tradesPath({ limit: 20, offset })),
    `/api/v1/solana/tokens/holders?token_address=${SOL}`,
  ];
  await requireAnswers(layout, paths);
  return paths;
}

/** Throws with what a path answers instead of 200. */
async function requireAnswers({ gateways }: Layout, paths: readonly string[]): Promise<void> {
  for (const { url } of gateways)
    for (const path of paths) {
      let response = await fetch(`${url}${path}`, { headers: { "x-api-key": KEY } });
      // A store without snapshots is being written, or a busy machine starts.
      while (response.status === 503 || response.status === 408) {
        await response.body?.cancel();
        await sleep(200);
        response = await fetch(`${url}${path}`, { headers: { "x-api-key": KEY } });
      }
      const text = await response.text();
      if (response.status !== 200)
        throw new Error(`${url}${path} answers ${response.status}: ${text.slice(0, 300)}`);
    }
}
