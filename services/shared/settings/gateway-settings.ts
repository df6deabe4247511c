import { decimal, integer, list, network, port, portOr, type Settings, text, url } from "./env.ts";

const requestRate = decimal({ min: 0.001, max: 1_000_000, decimals: 3 });
const requestBurst = integer({ min: 1, max: 1_000_000 });

/** The gateway's listeners and its limits by key and address: part of SETTINGS. */
export const GATEWAY_SETTINGS = {
  GATEWAY_PORT: {
    parse: port(),
    default: "8080",
    usedBy: ["gateway"],
    meaning: "Port of the public base address",
  },
  ADMIN_PORT: {
    parse: portOr("off"),
    usedBy: ["gateway"],
    meaning:
      "Port on which operators read the gateway's /metrics, which the public port does not serve; 9401 when unset, or any free port where that is in use or GATEWAY_PORT is 0; 0 = any free port, off = none",
  },
  ADMIN_HOST: {
    parse: text(),
    default: "127.0.0.1",
    usedBy: ["gateway", "facilitator"],
    meaning:
      "Address that ADMIN_PORT and FACILITATOR_ADMIN_PORT bind to; 0.0.0.0 in containers, where only the network of your monitoring should reach them",
  },
  BOOTSTRAP_API_KEY: {
    parse: text(),
    secret: true,
    usedBy: ["gateway"],
    meaning:
      "An API key with every scope and no expiry, for tests and first runs; kept in memory only; unset = none",
  },
  PUBLIC_URL: {
    parse: url(["http", "https"]),
    usedBy: ["gateway"],
    meaning:
      "Base address that OpenAPI and docs show; unset = the address that a request came in at (a host name is believed only of a client at this machine)",
  },
  KEY_RATE: {
    parse: requestRate,
    default: "100",
    usedBy: ["gateway"],
    meaning:
      "Requests a second that a key may ask in the long run, where it has no rate of its own; BOOTSTRAP_API_KEY has no limits",
  },
  KEY_BURST: {
    parse: requestBurst,
    default: "200",
    usedBy: ["gateway"],
    meaning: "Requests that a key may ask at once, where it has no burst of its own",
  },
  KEY_DAILY_QUOTA: {
    parse: integer({ min: 0, max: 1_000_000_000_000 }),
    default: "0",
    usedBy: ["gateway"],
    meaning: "Requests that a key may ask a UTC day, where it has no quota of its own; 0 = any number",
  },
  LIVE_STREAMS: {
    parse: integer({ min: 0, max: 1_000_000 }),
    default: "1000",
    usedBy: ["gateway"],
    meaning: "Live streams that one process of the gateway serves at once; 0 = none",
  },
  LIVE_STREAMS_PER_KEY: {
    parse: integer({ min: 1, max: 1_000_000 }),
    default: "20",
    usedBy: ["gateway"],
    meaning: "Live streams that one key may hold open at one process of the gateway",
  },
  ADDRESS_RATE: {
    parse: requestRate,
    default: "20",
    usedBy: ["gateway"],
    meaning:
      "Answers a second to one client address (IPv6: one /64) that need no valid key: refusals (400, 401, 404 and the like), and, each counted by itself, 402, pages, and look-ups of keys not seen before; ten times as many for OPTIONS",
  },
  ADDRESS_BURST: {
    parse: requestBurst,
    default: "400",
    usedBy: ["gateway"],
    meaning: "Such answers to one address at once",
  },
  VERIFY_RATE: {
    parse: requestRate,
    default: "10",
    usedBy: ["gateway"],
    meaning: "Payments a second that are verified for one client address",
  },
  VERIFY_BURST: {
    parse: requestBurst,
    default: "100",
    usedBy: ["gateway"],
    meaning: "Such payments of one address at once",
  },
  TRUSTED_PROXIES: {
    parse: list(network()),
    usedBy: ["gateway"],
    meaning:
      "Addresses or networks (10.0.0.0/8, fd00::/8) of proxies in front of the gateway, comma-separated: only they are believed who they forward (X-Forwarded-For); unset = every connection is a client",
  },
} as const satisfies Settings;
