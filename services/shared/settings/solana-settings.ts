import { blockNumber, rpcUrls } from "./chain-settings.ts";
import { integer, list, oneOf, pattern, type Settings, text, url } from "./env.ts";

/** Settings of Solana's index and service: part of SETTINGS. */
export const SOLANA_SETTINGS = {
  SOLANA_GRPC_TOKEN: {
    parse: text(),
    secret: true,
    usedBy: ["ingest"],
    meaning: "Token of the Yellowstone gRPC server in SOLANA_GRPC, sent as x-token",
  },
  SOLANA_HOLDERS: {
    parse: oneOf(["on", "off"]),
    default: "on",
    usedBy: ["solana", "ingest"],
    meaning:
      "off = Solana's trades and liquidity alone, without balances, mints and burns: SOLANA_GRPC then streams the exchanges' transactions only, and tokens/holders and token-mint-burn-transactions answer 404",
  },
  SOLANA_PORTAL: {
    parse: url(["http", "https"]),
    // A private portal's URL may hold a key.
    secret: true,
    usedBy: ["ingest"],
    meaning:
      "SQD Portal to read final slots of Solana from while the ingest is far behind the head, as the URL of its dataset (https://portal.sqd.dev/datasets/solana-mainnet); its operator sees which programs are indexed; unset = by JSON-RPC",
  },
  SOLANA_RPC: {
    parse: rpcUrls,
    secret: true,
    usedBy: ["ingest"],
    meaning: "JSON-RPC endpoints of Solana, comma-separated, the preferred one first",
  },
  SOLANA_EXCHANGES: {
    parse: list(oneOf(["raydium", "orca", "meteora", "pumpfun"])),
    usedBy: ["solana", "ingest"],
    meaning: "Exchanges whose single transactions of Solana are kept, comma-separated; unset = all",
  },
  SOLANA_TOKENS: solanaAddresses(
    "Tokens (mints) whose single transactions are kept, with those of the pools that trade them",
  ),
  SOLANA_POOLS: solanaAddresses("Pools whose single transactions are kept, besides those of SOLANA_TOKENS"),
  START_BLOCK_SOLANA: {
    parse: blockNumber,
    usedBy: ["ingest"],
    meaning:
      "First slot of Solana to index, or the first one that the endpoints still have; unset = the first one of the last hour, as a day of Solana is a terabyte of blocks",
  },
  SOLANA_RAW_DAYS: {
    parse: integer({ min: 0, max: 3_650 }),
    default: "30",
    usedBy: ["ingest"],
    meaning:
      "Days that single transactions of Solana are kept; candles, holders and tokens are kept for ever; 0 = transactions too",
  },
  SOLANA_HOLDERS_PERCENT: {
    parse: integer({ min: 1, max: 100 }),
    default: "95",
    usedBy: ["solana"],
    meaning:
      "Percent of its supply that the known holders of a Solana token must have before their count, concentration, distribution and score are told; else these are null",
  },
} as const satisfies Settings;

function solanaAddresses(what: string) {
  return {
    parse: list(pattern(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, "a Solana address")),
    usedBy: ["solana", "ingest"],
    meaning: `${what}, comma-separated; candles and prices know all trades in any case; unset = all`,
  } as const;
}
