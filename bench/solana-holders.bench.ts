/**
 * npm run bench:solana-holders — a token of 5,000,000 holders (BENCH_HOLDERS), a fifth of whom hold the same amount, as after
 * an airdrop: its security figures, and first and deep pages of its holders, by the service's handlers in this process,
 * with the longest time that one of them held the event loop. The deepest page begins among those of the same amount.
 * Before that the bytes that a holder and the search fragments of a token take in SQLite, of tokens and wallets that
 * appear over time as they do in blocks, beside what they took by the layout before it.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { encodeBase58 } from "../services/shared/contract/base58.ts";
import { collection } from "../services/shared/storage/collection.ts";
import { openStore } from "../services/shared/storage/open.ts";
import { put, type Store } from "../services/shared/storage/port.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { tokenHolders, tokenSecurity } from "../services/solana/contract.ts";
import { createHandlers } from "../services/solana/handlers.ts";
import { bucketOf, changeCounts } from "../services/solana/metrics/balance-buckets.ts";
import { createDeps } from "../services/solana/serve/deps.ts";
import { COLLECTIONS, checkpoints } from "../services/solana/store/collections.ts";
import {
  type HolderRow,
  holders,
  type TokenRow,
  tokenFragments,
  tokens,
} from "../services/solana/store/token-collections.ts";
import { toAccountId, toTokenNumber } from "../services/solana/store/token-number.ts";
import { listFragments } from "../services/solana/store/token-search.ts";
import { readStoreBytes } from "./store-bytes.ts";

const HOLDERS = Number(process.env.BENCH_HOLDERS ?? 5_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 50);
/** One in so many holders has AIRDROP: some 50,000 of the others have more. */
const AIRDROPPED = 5;
const AIRDROP = 10n ** 13n * 5n;
/** Pairs of a wallet and a token, and tokens, whose bytes are measured. */
const PAIRS = 300_000;
const NAMED = 5_000;
/** How both were stored when a holder named mint, owner and accounts in full, and a fragment its mint: for comparison. */
const oldHolders = collection({
  name: "old_holders",
  fields: { mint: "text", owner: "text", balance: "bigint", accounts: "json?" },
  key: ["mint", "owner"],
  indexes: [{ fields: ["mint", "balance", "owner"], descending: ["balance"] }],
  shardKey: ["mint", "owner"],
});
const oldFragments = collection({
  name: "old_fragments",
  fields: { fragment: "text", symbol: "text", mint: "text" },
  key: ["fragment", "symbol", "mint"],
  indexes: [],
  shardKey: ["fragment", "symbol", "mint"],
});
const GOAL_MS = 100;
const SLOT = 300_000_000;
const MINT = encodeBase58(new Uint8Array(32).fill(7));

const SYLLABLES = [
  "ba",
  "cat",
  "doge",
  "el",
  "fi",
  "gor",
  "inu",
  "ko",
  "lon",
  "moon",
  "nix",
  "pepe",
  "ru",
  "sol",
  "trum",
  "wif",
];

const figures: Figure[] = [];
const failures: string[] = [];
const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-holders-"));
try {
  await measureBytes(join(dataDir, "bytes"));
  await measureAnswers(join(dataDir, "answers"));
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
recordFigures("solana-holders", figures);
if (failures.length > 0) {
  console.error(`bench:solana-holders: not reached: ${failures.join("; ")}`);
  process.exitCode = 1;
}

function randomAddress(): string {
  return encodeBase58(randomBytes(32));
}

/** Raw amounts over ten powers of ten, most of them small: log-normal. */
function randomBalance(): bigint {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return BigInt(Math.max(1, Math.floor(10 ** (9 + 2 * normal))));
}

/** New tokens all the time, of which the last ones are traded most; half of the wallets hold several. */
async function measureBytes(folder: string): Promise<void> {
  const store = await openStore({ service: "solana", dataDir: folder });
  await store.declare([...COLLECTIONS, oldHolders, oldFragments]);
  const mints = new Map<number, string>();
  const mintOf = (number: number): string => {
    if (!mints.has(number)) mints.set(number, randomAddress());
    return mints.get(number) as string;
  };
  const wallets = Array.from({ length: PAIRS / 5 }, randomAddress);
  const numbers: number[] = [];
  for (let done = 0; done < PAIRS; done += 500) {
    const slot = SLOT + done / 500;
    for (let place = 0; place < 10; place++) numbers.push(toTokenNumber(slot, place));
    const rows = Array.from({ length: 500 }, (): HolderRow => {
      const back = Math.floor(Math.random() ** 2 * Math.min(numbers.length, Math.random() < 0.5 ? 500 : 1e9));
      const known = wallets[Math.floor(Math.random() * wallets.length)] as string;
      return {
        token: numbers[numbers.length - 1 - back] as number,
        owner: Math.random() < 0.5 ? known : randomAddress(),
        balance: randomBalance(),
        account: toAccountId(randomAddress()),
      };
    });
    const old = rows.map(({ token, owner, balance }) => ({
      ...{ mint: mintOf(token), owner, balance, accounts: [randomAddress(), `${balance}`] },
    }));
    await store.write([put(holders, rows), put(oldHolders, old)]);
  }
  const names = Array.from({ length: NAMED }, (_, i) => ({
    name: randomName(),
    number: numbers[i] as number,
  }));
  for (let done = 0; done < NAMED; done += 50) {
    const rows = names.slice(done, done + 50).flatMap(({ name, number }) => {
      const symbol = name
        .replaceAll(/[aeiou ]/gi, "")
        .slice(0, 6)
        .toUpperCase();
      return [...listFragments(symbol, name)].map((fragment) => ({ fragment, symbol, token: number }));
    });
    const old = rows.map(({ token, ...row }) => ({ ...row, mint: mintOf(token) }));
    await store.write([put(tokenFragments, rows), put(oldFragments, old)]);
  }
  const pairs = await store.count(holders, {});
  await store.close();
  const { byCollection } = await readStoreBytes(join(folder, "solana.sqlite"));
  const bytesOf = (name: string, count: number) => (byCollection[name] ?? 0) / count;
  reportBytes("bytes a holder", { bytes: bytesOf("holders", pairs), before: bytesOf("old_holders", pairs) });
  reportBytes("bytes of a token's search fragments", {
    bytes: bytesOf("token_fragments", NAMED),
    before: bytesOf("old_fragments", NAMED),
  });
}

/** Three words, as many tokens have. */
function randomName(): string {
  const word = () => Array.from({ length: 3 }, () => SYLLABLES[Math.floor(Math.random() * 16)]).join("");
  return `${word()} ${word()} ${word()}`;
}

function reportBytes(name: string, { bytes, before }: { bytes: number; before: number }): void {
  console.log(`${name}: ${bytes.toFixed(0)}, by the layout before ${before.toFixed(0)}`);
  figures.push({ name, value: bytes, unit: "B", goal: { atMost: Math.floor(before / 2) } });
  if (bytes > before / 2) failures.push(name);
}

async function measureAnswers(folder: string): Promise<void> {
  const store = await openStore({ service: "solana", dataDir: folder });
  await store.declare(COLLECTIONS);
  await fill(store);
  const handlers = createHandlers(createDeps(store));
  const { signal } = new AbortController();
  const page = { token_address: MINT, limit: 100 };
  for (const [title, endpoint, params] of [
    ["security", tokenSecurity, { token_address: MINT }],
    ["holders, first 100", tokenHolders, { ...page, offset: 0 }],
    ["holders, 100 from the 100,000th", tokenHolders, { ...page, offset: 100_000 }],
  ] as const) {
    const handler = handlers[endpoint.path];
    if (handler === undefined) throw new Error(`${endpoint.path} has no handler.`);
    const times: number[] = [];
    const held = monitorEventLoopDelay({ resolution: 1 });
    held.enable();
    for (let round = 0; round < ROUNDS; round++) {
      const startMs = performance.now();
      const { rows } = await handler(params as never, { session: "bench", signal });
      times.push(performance.now() - startMs);
      if (rows.length === 0 || rows[0]?.includes(undefined as never)) throw new Error(`${title}: no rows.`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    held.disable();
    times.sort((a, b) => a - b);
    const [p50, most] = [times[times.length >> 1] as number, times.at(-1) as number];
    const longest = held.max / 1e6;
    console.log(
      `${title}: p50 ${p50.toFixed(1)} ms, most ${most.toFixed(1)} ms, event loop held ${longest.toFixed(1)} ms at most`,
    );
    for (const [what, value] of [
      ["median", p50],
      ["most", most],
      ["event loop held at most", longest],
    ] as const) {
      figures.push({ name: `${title}, ${what}`, value, unit: "ms", goal: { atMost: GOAL_MS } });
      if (value > GOAL_MS) failures.push(`${title}, ${what}`);
    }
  }
  await store.close();
}

async function fill(store: Store): Promise<void> {
  const number = toTokenNumber(SLOT, 0);
  const counts = new Map<number, number>();
  let held = 0n;
  const startMs = performance.now();
  for (let done = 0; done < HOLDERS; done += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, HOLDERS - done) }, (_, i): HolderRow => {
      const balance = i % AIRDROPPED === 0 ? AIRDROP : randomBalance();
      counts.set(bucketOf(balance), (counts.get(bucketOf(balance)) ?? 0) + 1);
      held += balance;
      return { token: number, owner: randomAddress(), balance, account: toAccountId(MINT) };
    });
    rows.sort((a, b) => (a.owner < b.owner ? -1 : 1));
    await store.write([put(holders, rows)]);
  }
  const token: TokenRow = {
    ...{ mint: MINT, number, symbol: "BIG", name: "Big", decimals: 6, supply: held, isToken2022: false },
    ...{ mintAuthority: null, freezeAuthority: null, extensions: {}, mutableMetadata: false },
    ...{ holderCount: HOLDERS, held, balanceCounts: changeCounts([], counts) },
    ...{ readSlot: SLOT, holdersSlot: SLOT, wholeSlot: SLOT, foundSlot: SLOT },
  };
  const checkpoint = {
    ...{ chainId: 0, slot: SLOT, blockhash: "b", time: 1_700_000_000, fromSlot: SLOT - 1, fromTime: 0 },
    ...{
      rowsFromSlot: SLOT - 1,
      rowsFromTime: 0,
      headSlot: SLOT,
      finalizedSlot: SLOT,
      fromBlockhash: "a",
      trades: 0,
      otherSwaps: null,
    },
  };
  await store.write([put(tokens, [token]), put(checkpoints, [checkpoint])]);
  console.log(`${HOLDERS} holders written in ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
}
