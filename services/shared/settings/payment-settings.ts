import {
  decimal,
  evmAddress,
  integer,
  pairs,
  pattern,
  port,
  portOr,
  type Settings,
  text,
  url,
} from "./env.ts";

const FACILITATOR_PORT = 8403;

/** Settings of the pay-per-request host and the built-in facilitator: part of SETTINGS. */
export const PAYMENT_SETTINGS = {
  X402_PAY_TO: {
    parse: evmAddress,
    usedBy: ["gateway", "facilitator"],
    meaning:
      "Address on Base that is paid for requests at the pay-per-request host (x402); unset = there is no such host",
  },
  X402_PORT: {
    parse: port(),
    default: "8402",
    usedBy: ["gateway"],
    meaning: "Port of the pay-per-request host",
  },
  X402_PUBLIC_URL: {
    parse: url(["http", "https"]),
    usedBy: ["gateway"],
    meaning:
      "Base address of the pay-per-request host as clients see it: payments are bound to it, and requests that name its host at GATEWAY_PORT are answered by it too; unset = that of the listener",
  },
  X402_PRICES: {
    parse: pairs(
      /^\/[a-z0-9/-]+$/,
      /^\d{1,4}(\.\d{1,6})?$/,
      "a path and its price in USD, such as /evm/chains=0.01",
    ),
    default: "",
    usedBy: ["gateway"],
    meaning:
      "What else is sold there, path=USD, comma-separated, such as /evm/dexb/v3/pool=0.01; also changes a price, 0 takes an endpoint off sale",
  },
  X402_FACILITATOR_URL: {
    parse: url(["http", "https"]),
    default: `http://127.0.0.1:${FACILITATOR_PORT}`,
    usedBy: ["gateway"],
    meaning: "Facilitator that checks and settles payments; unset = the built-in one on this machine",
  },
  X402_FACILITATOR_TOKEN: {
    parse: text(),
    secret: true,
    usedBy: ["gateway", "facilitator"],
    meaning: "Bearer token for the facilitator; the built-in one requires it if it is set",
  },
  X402_SETTLE_TIMEOUT_MS: {
    parse: integer({ min: 100, max: 120_000 }),
    default: "10000",
    usedBy: ["gateway"],
    meaning:
      "Milliseconds that a facilitator may take to settle, and for which the chain is then watched for a payment that it does not show yet",
  },
  X402_ANSWERS_KEPT_SECONDS: {
    parse: integer({ min: 60, max: 30 * 86_400 }),
    default: "3600",
    usedBy: ["gateway"],
    meaning: "Seconds for which a paid answer can be fetched again with the same payment",
  },
  FACILITATOR_PORT: {
    parse: port(),
    default: String(FACILITATOR_PORT),
    usedBy: ["facilitator"],
    meaning: "Port of the built-in facilitator",
  },
  FACILITATOR_ADMIN_PORT: {
    parse: portOr("off"),
    usedBy: ["facilitator"],
    meaning:
      "Port on which operators read the built-in facilitator's /metrics; 9402 when unset, or any free port where that is in use or FACILITATOR_PORT is 0; 0 = any free port, off = none",
  },
  FACILITATOR_PRIVATE_KEY: {
    parse: pattern(/^0x[0-9a-fA-F]{64}$/, "0x and 64 hexadecimal digits"),
    secret: true,
    usedBy: ["facilitator"],
    meaning:
      "Private key of the built-in facilitator's wallet, which pays for the gas of settlements; keep some ether of Base there and nothing else",
  },
  FACILITATOR_MAX_GAS_EOA: {
    parse: integer({ min: 50_000, max: 10_000_000 }),
    default: "150000",
    usedBy: ["facilitator"],
    meaning: "Gas that the settlement of a payment from a plain wallet may take; USDC takes some 90000",
  },
  FACILITATOR_MAX_GAS_CONTRACT: {
    parse: integer({ min: 0, max: 10_000_000 }),
    default: "300000",
    usedBy: ["facilitator"],
    meaning:
      "The same for a wallet that is a contract, whose signature check takes what it likes; 0 = such wallets are refused",
  },
  FACILITATOR_LOW_ETHER: {
    parse: decimal({ min: 0, max: 1_000, decimals: 6 }),
    default: "0.0005",
    usedBy: ["facilitator"],
    meaning: "Ether in that wallet below which the log warns; 0 = never",
  },
} as const satisfies Settings;
