import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { MongoClient } from "mongodb";
import { describeRounds } from "../../../services/shared/testkit/describe.ts";
import { DATABASES } from "../../backup/mongodb/layout.ts";
import { CutProxy, type Outage } from "./cut-proxy.ts";
import { type Layout, startLayout } from "./layout.ts";
import { type Answer, countStatuses, sendLoad, summarize } from "./load.ts";
import { pathsOf } from "./paths.ts";
import { comeToHead, equalUndisturbed, passAudit, requireDocumented } from "./verdicts.ts";

/**
 * `npm run trials:mongodb`: the production layout on MongoDB, which goes away in the midst of load, twice. Not in the full
 * check: its stores have the names of an installation's, and a server of the tests is shared.
 */
const URL_OF_SERVER = process.env.LAYOUT_MONGODB_URL;
const OUTAGE_MS = Number(process.env.LAYOUT_OUTAGE_SECONDS ?? 20) * 1_000;
const RATE = Number(process.env.LAYOUT_RATE ?? 5);
const OUTAGES: readonly Outage[] = ["refuses", "is silent"];
/** Before, between and after the outages. */
const REST_MS = 5_000;

interface Period {
  readonly outage: Outage;
  readonly beganMs: number;
  readonly endedMs: number;
  /** From the end of the outage until both gateways answered with the head. */
  recoveredMs: number;
}

describeRounds(80, "the production layout while MongoDB is away", () => {
  let proxy: CutProxy;
  let layout: Layout;
  let answers: Answer[];
  const periods: Period[] = [];
  const stopTrading = new AbortController();

  before(async () => {
    if (URL_OF_SERVER === undefined)
      throw new Error("LAYOUT_MONGODB_URL must name a MongoDB server without databases of chaintables.");
    await requireEmpty(URL_OF_SERVER);
    const { hostname: host, port } = new URL(URL_OF_SERVER);
    proxy = await CutProxy.start({ host, port: Number(port || 27_017) });
    const throughProxy = URL_OF_SERVER.replace(/(\/\/|@)[^/@]+(\/|$)/, `$1${proxy.address}$2`);
    layout = await startLayout({ MONGODB_URL: throughProxy });
    const trading = layout.trade(stopTrading.signal);
    const stopLoad = new AbortController();
    const load = sendLoad(layout, { rate: RATE, paths: await pathsOf(layout), signal: stopLoad.signal });
    try {
      for (const outage of OUTAGES) {
        await sleep(REST_MS);
        const beganMs = performance.now();
        await proxy.cut(outage);
        await sleep(OUTAGE_MS);
        await proxy.restore();
        const endedMs = performance.now();
        const period = { outage, beganMs, endedMs, recoveredMs: Number.NaN };
        periods.push(period);
        await comeToHead(layout);
        period.recoveredMs = performance.now() - endedMs;
      }
      await sleep(REST_MS);
    } finally {
      stopLoad.abort();
      answers = await load;
      stopTrading.abort();
      await trading;
      report(answers, periods);
      for (const { isRunning, lines, name } of layout.members)
        if (!isRunning) console.log(`    ${name} has ended:\n${lines.slice(-12).join("\n")}`);
    }
  });
  after(async () => {
    await layout?.stop();
    await proxy?.stop();
    if (layout !== undefined) await dropDatabases(URL_OF_SERVER as string);
  });

  it("answers with tables, or with the documented errors, and breaks no connection", () => {
    requireDocumented(answers);
    expect(answers.filter(({ status }) => status === undefined)).to.deep.equal([]);
  });

  it("answers nearly all again soon after each outage", () => {
    const [first] = periods as [Period];
    const { beganMs: startMs } = answers.at(-1) as Answer;
    const shareOf = (among: readonly Answer[]) => (countStatuses(among)[200] ?? 0) / among.length;
    const before = answers.filter(({ beganMs, tookMs }) => beganMs + tookMs < first.beganMs);
    const last = answers.filter(({ beganMs }) => beganMs > startMs - REST_MS);
    // A single server has no snapshots: some reads meet a write, and say so by 503.
    expect(shareOf(last), JSON.stringify(countStatuses(last))).to.be.above(shareOf(before) - 0.25);
  });

  it("ends no process: leaders and standbys wait for the store", () => {
    expect(layout.members.filter(({ isRunning }) => !isRunning).map(({ name }) => name)).to.deep.equal([]);
  });

  it("comes to the head", () => comeToHead(layout));
  it("has the rows that the chain has, by the audit", () => passAudit(layout));
  it("has the trades that an undisturbed index has", () => equalUndisturbed(layout));
});

function report(answers: readonly Answer[], periods: readonly Period[]): void {
  for (const { outage, beganMs, endedMs, recoveredMs } of periods) {
    const during = answers.filter((each) => each.beganMs >= beganMs && each.beganMs < endedMs);
    const line = { outage, seconds: (endedMs - beganMs) / 1_000, recoveredMs: Math.round(recoveredMs) };
    console.log(`    ${JSON.stringify({ ...line, during: summarize(during) })}`);
  }
  console.log(`    ${JSON.stringify({ all: summarize(answers) })}`);
}

async function databasesOf(client: MongoClient): Promise<string[]> {
  const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
  return databases.map(({ name }) => name).filter((name) => DATABASES.includes(name));
}

async function requireEmpty(url: string): Promise<void> {
  const client = new MongoClient(url);
  try {
    const names = await databasesOf(client);
    if (names.length > 0)
      throw new Error(
        `LAYOUT_MONGODB_URL must name a server without ${names.join(", ")}: nothing is deleted.`,
      );
  } finally {
    await client.close();
  }
}

/** Those that this trial has made. */
async function dropDatabases(url: string): Promise<void> {
  const client = new MongoClient(url);
  try {
    for (const name of await databasesOf(client)) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}
