import { setTimeout as sleep } from "node:timers/promises";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { type Cut, readPartially } from "./cutting-client.ts";
import { type Payer, signFor } from "./payer.ts";
import { PRICE } from "./payment-gateway.ts";
import type { TrialEnvironment } from "./trial-environment.ts";

interface TrialReport {
  readonly index: number;
  /** What was done, in words. */
  readonly plan: string;
  /** Payments that left the wallet. */
  readonly charged: number;
  /** Whole tables that a client has read. */
  readonly tables: number;
  /** Settled payments whose response no client has received, by the ledger. */
  readonly owed: number;
  /** Whether a gateway may think a table lost that was read: its connection was reset, or its process killed. */
  readonly isDoubtful: boolean;
  /**
   * Whether the client may have discarded what it received: a response that has arrived in a client whose user aborts it
   * looks to every server like one that was read.
   */
  readonly isUnseen: boolean;
}

/** A trial that is over for its client; the ledger may still be waiting for the state of a connection. */
interface Trial extends Pick<TrialReport, "index" | "plan" | "charged" | "tables"> {
  conclude(): Promise<TrialReport>;
}

const KINDS = ["cut", "cut", "cut", "cut", "fault", "fault", "abort", "kill"] as const;
const CUTS = ["reset", "close", "half-close", "pause", "stall"] as const;
const FAULTS = [
  "none",
  "settle late",
  "settle unanswered",
  "settle denied",
  "verify fails",
  "service",
  "rpc",
] as const;
const MIN_BYTES = 1_024;
const MAX_BYTES = 14_000_000;
/** How long an unmodified client tries again: a busy machine needs seconds for a new gateway, and attempts may fail at once. */
const PATIENCE_MS = 120_000;
const RETRY_MS = 150;
/** In which a gateway has written down what it knows of a delivery, on a busy machine too. */
const SETTLED_MS = 15_000;
/** What a wallet begins with. */
const FUNDS = 5n * PRICE;

/** A number from 0 to 1 at each call, the same ones for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One client that has a failure, and returns with an unmodified client until it has a whole table. */
export async function runTrial(
  world: TrialEnvironment,
  { index, seed, payer }: { readonly index: number; readonly seed: number; readonly payer: Payer },
): Promise<Trial> {
  const random = createRandom(seed * 1_000_003 + index);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const bytes = Math.round(MIN_BYTES * (MAX_BYTES / MIN_BYTES) ** random());
  const kind = pick(KINDS);
  const fault = kind === "fault" || random() < 0.2 ? pick(FAULTS) : "none";
  const url = world.urlOf(index);
  world.sizes.set(index, bytes);
  const startedMs = performance.now();
  let isReset = false;
  let tables = 0;

  const asUnmodified = async (signal?: AbortSignal): Promise<boolean> => {
    try {
      const answer = await payer.fetch(url, signal === undefined ? {} : { signal });
      const body = await answer.arrayBuffer();
      return answer.status === 200 && body.byteLength === bytes;
    } catch {
      return false;
    }
  };
  const cutAt = (): Cut => {
    const all = bytes + 2_000;
    const afterBytes = random() < 0.1 ? Number.POSITIVE_INFINITY : 1 + Math.floor(random() * all);
    return { afterBytes, how: pick(CUTS), pauseMs: 20 + Math.floor(random() * 2_500) };
  };
  const beCut = async (): Promise<string> => {
    const cut = cutAt();
    const payment = await signFor(payer, url).catch(() => undefined);
    if (payment === undefined) return "cut before an offer";
    const headers = { "PAYMENT-SIGNATURE": encodePaymentSignatureHeader(payment) };
    const { isWhole, status } = await readPartially(url, { headers, cut });
    if (status === 200 && isWhole) tables += 1;
    isReset = cut.how === "reset" || cut.how === "stall";
    return `${cut.how} after ${cut.afterBytes} bytes`;
  };
  const abort = async (): Promise<string> => {
    const delayMs = Math.floor(random() * 400);
    const client = new AbortController();
    const timer = setTimeout(() => client.abort(), delayMs);
    if (await asUnmodified(client.signal)) tables += 1;
    clearTimeout(timer);
    return `abort after ${delayMs} ms`;
  };
  const beKilled = async (): Promise<string> => {
    const delayMs = Math.floor(random() * 400);
    const isTable = asUnmodified();
    await sleep(delayMs);
    await world.kill();
    if (await isTable) tables += 1;
    return `gateway killed after ${delayMs} ms`;
  };
  const request = async (): Promise<string> => {
    if (await asUnmodified()) tables += 1;
    return "requested";
  };
  const ways = { cut: beCut, abort, kill: beKilled, fault: request };

  world.faults.set(payer.address.toLowerCase(), fault);
  if (fault === "service") world.brokenServices.add(index);
  if (fault === "rpc") world.breakRpc(300);
  const done = await ways[kind]();
  const isFaultOver = random() < 0.7;
  const heal = (): void => {
    world.faults.delete(payer.address.toLowerCase());
    world.brokenServices.delete(index);
  };
  if (isFaultOver) heal();
  const untilMs = performance.now() + PATIENCE_MS;
  let isServed = await asUnmodified();
  heal();
  while (!isServed && performance.now() < untilMs) {
    await world.ready();
    await sleep(RETRY_MS);
    isServed = await asUnmodified();
  }
  if (isServed) tables += 1;

  const plan = `${bytes} bytes, ${done}, fault: ${fault}${isServed ? "" : ", never served"}`;
  const countCharged = async () => Number((FUNDS - (await world.balanceOf(payer))) / PRICE);
  const endedMs = performance.now();
  return {
    ...{ index, plan, tables, charged: await countCharged() },
    async conclude() {
      const wasKilled = world.kills.some((atMs) => atMs >= startedMs && atMs <= endedMs + SETTLED_MS);
      const owed = await world.owedTo(payer, index);
      return {
        index,
        plan,
        // Again: a request that its client aborted may be settled after the client has its table.
        charged: await countCharged(),
        tables,
        owed,
        isDoubtful: isReset || wasKilled,
        isUnseen: kind === "abort",
      };
    },
  };
}

/** What is wrong with a trial; undefined where USDC moved = whole tables × price, or the difference is owed. */
function judgeTrial(report: TrialReport): string | undefined {
  const { charged, tables, owed, isDoubtful, isUnseen, plan } = report;
  if (plan.endsWith("never served")) return "the client never had a table";
  if (charged > tables + owed + (isUnseen ? 1 : 0))
    return `charged ${charged} times for ${tables} tables, ${owed} owed`;
  if (charged - owed < tables && !isDoubtful) return `${tables} tables for ${charged} payments`;
  return undefined;
}

interface TrialTotals {
  readonly trials: number;
  readonly charged: number;
  readonly tables: number;
  /** By the command that an operator has. */
  readonly owed: number;
  /** Tables without a payment, since a gateway could not know that the ones before had been read. */
  readonly free: number;
  /** Aborted by an unmodified client, charged, and not received: no server can detect it. */
  readonly unseen: number;
  readonly kills: number;
  readonly faults: readonly string[];
}

const LANES = 3;

/** Runs so many trials, some at a time, and compares the sums with what was received and with the ledger. */
export async function runTrials(
  world: TrialEnvironment,
  options: {
    readonly trials: number;
    readonly seed: number;
    readonly onTrial?: (trial: Trial) => void;
  },
): Promise<TrialTotals> {
  const trials: Trial[] = [];
  const payers = await world.createPayers(options.trials, FUNDS);
  const receivedBefore = await world.received();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < options.trials) {
      const index = next++;
      const trial = await runTrial(world, { index, seed: options.seed, payer: payers[index] as Payer });
      trials.push(trial);
      options.onTrial?.(trial);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await sleep(SETTLED_MS);
  const reports = await Promise.all(trials.map((trial) => trial.conclude()));
  const faults = reports.flatMap((report) => {
    const fault = judgeTrial(report);
    return fault === undefined ? [] : [`trial ${report.index} (${report.plan}): ${fault}`];
  });
  const sum = (name: "charged" | "tables" | "owed") => reports.reduce((total, one) => total + one[name], 0);
  const [charged, tables] = [sum("charged"), sum("tables")];
  const owed = (await world.listOwed()).length;
  if (owed !== sum("owed"))
    faults.push(`the command lists ${owed} owed payments, the ledger has ${sum("owed")}`);
  const received = Number((await world.received()) - receivedBefore) / Number(PRICE);
  if (received !== charged) faults.push(`${received} payments were received, ${charged} were sent`);
  return {
    ...{ trials: options.trials, charged, tables, owed, free: tables - (charged - owed) },
    unseen: reports.filter((one) => one.isUnseen && one.charged > one.tables + one.owed).length,
    ...{ kills: world.kills.length, faults },
  };
}
