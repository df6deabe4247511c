/** What a first-time user needs to know, once everything answers. */
export interface BannerFacts {
  readonly url: string;
  readonly apiKey: string;
  /** The local chain, or undefined where real RPC endpoints are configured. */
  readonly devnet: { readonly url: string; readonly pool: string; readonly poolName: string } | undefined;
  readonly dataDir: string;
  readonly startedInSeconds: number;
}

const WRAPPED_SOL = "So11111111111111111111111111111111111111112";

export function banner(facts: BannerFacts): string {
  const { url, apiKey, devnet } = facts;
  const curl = (path: string) => `  curl -s -H 'X-API-KEY: ${apiKey}' '${url}${path}'`;
  const examples =
    devnet === undefined
      ? [
          "The list of pools fills while the factories are read; a pool's numbers come with the backfill:",
          curl("/evm/dexb/v3/pools?limit=5"),
          curl("/evm/chains"),
        ]
      : [
          `The ${devnet.poolName} pool; call it twice, its numbers move every two seconds:`,
          curl(`/evm/dexb/v3/pool?pool_address=${devnet.pool}`),
          "All pools, the newest first:",
          curl("/evm/dexb/v3/pools"),
          "What lenders earn now, the most first:",
          curl("/evm/lending/lendinga/v3/pools?order_desc=supplyApy"),
          "The latest trades of wrapped SOL:",
          curl(`/api/v1/solana/token-transactions?token_address=${WRAPPED_SOL}&days=1&limit=5`),
        ];
  return [
    "",
    `chaintables answers on ${url} (started in ${facts.startedInSeconds.toFixed(1)} s)`,
    "",
    `  documentation  ${url}/docs`,
    `  OpenAPI        ${url}/openapi.json`,
    `  state          ${url}/readyz`,
    `  API key        ${apiKey}`,
    `  chain          ${devnet === undefined ? "the configured RPC endpoints" : `a local one at ${devnet.url}, with its own pools and traders`}`,
    `  data           ${facts.dataDir}`,
    "",
    ...examples,
    "",
    devnet === undefined
      ? "Ctrl-C stops everything; the next start goes on where this one stopped."
      : "Ctrl-C stops everything; the next start goes on where this one stopped. For the real chain: EVM_RPC_8453=https://… npm start",
    "",
  ].join("\n");
}
