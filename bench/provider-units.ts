/**
 * What providers count a JSON-RPC call as. Alchemy: alchemy.com/docs/reference/compute-unit-costs. QuickNode's flat 20
 * credits and Infura's 80 and 255 are from memory: check them before you choose a plan by them.
 */
const WEIGHTS: Readonly<Record<string, { readonly any: number; readonly [method: string]: number }>> = {
  "Alchemy compute units": {
    any: 20,
    eth_blockNumber: 10,
    eth_chainId: 0,
    eth_getBlockByNumber: 20,
    eth_getLogs: 60,
    eth_getBlockReceipts: 20,
    eth_call: 26,
  },
  "QuickNode credits": { any: 20 },
  "Infura credits": { any: 80, eth_getLogs: 255 },
  "calls, for plans that count them": { any: 1 },
};

/** The units of calls by method, provider by provider. */
export function unitsOf(calls: ReadonlyMap<string, number>): [provider: string, units: number][] {
  return Object.entries(WEIGHTS).map(([provider, weights]) => {
    const units = [...calls].reduce(
      (sum, [method, count]) => sum + count * (weights[method] ?? weights.any),
      0,
    );
    return [provider, units];
  });
}
