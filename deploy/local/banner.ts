/** What a first-time user needs to know, once everything answers. */
export interface BannerFacts {
  readonly url: string;
  /** Of the pay-per-request host, where there is one. */
  readonly payUrl: string | undefined;
  /** Where operators read metrics; undefined where that is off. */
  readonly adminUrl: string | undefined;
  readonly apiKey: string;
  /** The local chain, or undefined where real RPC endpoints are configured. */
  readonly devnet: { readonly url: string; readonly pool: string; readonly poolName: string } | undefined;
  readonly dataDir: string;
  /** DATA_DIR where it is set: commands need it too. */
  readonly dataDirSetting: string | undefined;
  readonly startedInSeconds: number;
  /** What is not as it should be, a sentence each: said last, so that it stays in view. */
  readonly notes: readonly string[];
}

const TRADES =
  "/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=1&limit=5";
/** The default address of `npm run pay`. */
const USUAL_PAY_URL = "http://127.0.0.1:8402";

export function banner(facts: BannerFacts): string {
  const { url, payUrl, apiKey, devnet, adminUrl } = facts;
  const npmRun = `${facts.dataDirSetting ? `DATA_DIR=${facts.dataDirSetting} ` : ""}npm run`;
  const curl = (path: string) => `  curl -s -H 'X-API-KEY: ${apiKey}' '${url}${path}'`;
  const examples =
    devnet === undefined
      ? [
          "Tables are 503 until their first read has begun to fill them, and say how far it is:",
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
          curl(TRADES),
          ...(payUrl === undefined
            ? []
            : ["The same for 0.05 USDC of the local chain, without a key:", pay(payUrl)]),
        ];
  return [
    "",
    `chaintables answers on ${url} (started in ${facts.startedInSeconds.toFixed(1)} s)`,
    "",
    // In the fragment, which no browser sends and no log has: the page takes it out of the address.
    `  explorer       ${url}/#key=${encodeURIComponent(apiKey)}`,
    `  documentation  ${url}/docs`,
    `  OpenAPI        ${url}/openapi.json`,
    `  state          ${url}/readyz`,
    ...(adminUrl === undefined ? [] : [`  metrics        ${adminUrl}/metrics`]),
    `  API key        ${apiKey}`,
    ...(payUrl === undefined ? [] : [`  without a key  ${payUrl}, for a payment each`]),
    `  chain          ${devnet === undefined ? "the configured RPC endpoints" : `a local one at ${devnet.url}, with its own pools and traders`}`,
    `  data           ${facts.dataDir}`,
    "",
    ...examples,
    "",
    "In another terminal, on the same data (each takes --help):",
    `  ${npmRun} keys -- create --label me    # an API key of your own`,
    ...(payUrl === undefined ? [] : [`  ${npmRun} payments -- list             # what was paid`]),
    `  ${npmRun} audit -- --chain 8453        # stored rows against the chain`,
    "",
    devnet === undefined
      ? "Ctrl-C stops everything; the next start goes on where this one stopped."
      : "Ctrl-C stops everything; the next start goes on where this one stopped. For the real chain: EVM_RPC_8453=https://… npm start",
    "",
    ...facts.notes.map((note) => `Note: ${note}`),
    ...(facts.notes.length === 0 ? [] : [""]),
  ].join("\n");
}

function pay(payUrl: string): string {
  const at = payUrl === USUAL_PAY_URL ? "" : ` --url ${payUrl}`;
  return `  npm run pay -- '${TRADES}'${at}`;
}
