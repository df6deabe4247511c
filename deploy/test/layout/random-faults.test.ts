import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThoroughRounds } from "../../../services/shared/testkit/describe.ts";
import { runProgram } from "../../../services/shared/testkit/process.ts";
import { disturb, type Fault } from "./faults.ts";
import { KEY, type Layout, startLayout } from "./layout.ts";
import { type Answer, countStatuses, sendLoad } from "./load.ts";
import { Member } from "./member.ts";
import { pathsOf, tradesPath } from "./paths.ts";

/** LAYOUT_FAULTS=60 is what docs/operations.md speaks of. */
const FAULTS = Number(process.env.LAYOUT_FAULTS ?? 15);
const SEED = Number(process.env.LAYOUT_SEED ?? 1);
const RATE = 25;
const REST_MS = 1_000;
/** Errors that the documents promise where a process is gone: timed out, unavailable. */
const DOCUMENTED = [408, 502, 503, 504];
const SLOTS = 100_000;

describeThoroughRounds(2 * FAULTS, "the production layout under kills, pauses and reorgs at random", () => {
  let layout: Layout;
  let faults: Fault[];
  let answers: Answer[];
  const stopTrading = new AbortController();

  before(async () => {
    layout = await startLayout();
    const trading = layout.trade(stopTrading.signal);
    const stopLoad = new AbortController();
    const paths = await pathsOf(layout);
    const load = sendLoad(layout, { rate: RATE, paths, signal: stopLoad.signal });
    try {
      faults = await disturb(layout, { rounds: FAULTS, seed: SEED, restMs: REST_MS });
    } finally {
      stopLoad.abort();
      answers = await load;
      stopTrading.abort();
      await trading;
    }
  });
  after(() => layout?.stop());

  it("answers with tables, or with the documented errors while a process is gone", () => {
    const unknown = answers.filter(
      ({ status }) => status !== undefined && status !== 200 && !DOCUMENTED.includes(status),
    );
    expect(unknown).to.deep.equal([]);
    for (const { error, status } of answers) {
      if (status === undefined || status === 200) continue;
      expect(JSON.parse(error as string), error).to.have.nested.property("[0].error");
    }
    // A connection breaks only with the gateway that it leads to.
    const ofGateways = faults.filter(({ member }) => member?.plan.role === "gateway");
    const broken = answers.filter(({ status }) => status === undefined);
    const excused = broken.filter(({ beganMs, tookMs }) =>
      ofGateways.some((fault) => beganMs <= fault.endedMs + REST_MS && beganMs + tookMs >= fault.beganMs),
    );
    expect(excused.length, JSON.stringify(broken.slice(0, 5))).to.equal(broken.length);
    expect((countStatuses(answers)[200] ?? 0) / answers.length).to.be.above(0.8);
  });

  it("comes to the head of both chains", async () => {
    const head = await layout.chain.headNumber();
    for (const { url } of layout.gateways) {
      const read = async () =>
        Number((await ask(`${url}/evm/dexb/v3/pools?chain_id=8453&limit=1`)).headers.get("x-data-block"));
      while ((await read()) < head) await sleep(100);
    }
  });

  it("has the rows that the chain has, by the audit", async () => {
    const { dataDir, settings } = layout;
    const env = { ...settings, DATA_DIR: dataDir };
    const { code, stdout, stderr } = await runProgram("services/evm-dex/audit/main.ts", {
      args: ["--chain", "8453", "--pools", "20"],
      env,
    });
    expect(code, stdout + stderr).to.equal(0);
  });

  it("has the trades that an undisturbed index has", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chaintables-undisturbed-"));
    const members = ["solana-ingest", "solana"].map((role) => {
      const { plan } = layout.members.find((each) => each.plan.role === role) as Member;
      return new Member({ ...plan, env: { ...plan.env, DATA_DIR: folder, MONGODB_URL: "", REDIS_URL: "" } });
    });
    // Its ports are those of the first ones.
    await Promise.all(
      layout
        .membersWith("solana-ingest")
        .concat(layout.membersWith("solana"))
        .map((each) => each.stop("SIGTERM")),
    );
    const disturbed = layout.membersWith("solana")[0] as Member;
    await disturbed.start();
    const url = disturbed.plan.readyUrl.replace("/readyz", "");
    const expected = await readTrades(url);
    await disturbed.stop("SIGTERM");
    try {
      for (const member of members) await member.start();
      let found = await readTrades(url);
      while (found.slot < expected.slot) {
        await sleep(100);
        found = await readTrades(url);
      }
      expect(found.rows.length).to.be.above(100);
      expect(expected.rows).to.deep.equal(found.rows);
    } finally {
      for (const member of members) await member.stop("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function readTrades(url: string): Promise<{ slot: number; rows: unknown[] }> {
  const rows: unknown[] = [];
  let slot = 0;
  for (let offset = 0; offset < SLOTS; offset += 1_000) {
    const response = await ask(`${url}${tradesPath({ limit: 1_000, offset })}`);
    slot = Number(response.headers.get("x-data-block"));
    const parsed = (await response.json()) as { data: unknown[] } | [{ data: unknown[] }];
    const { data } = Array.isArray(parsed) ? parsed[0] : parsed;
    rows.push(...data);
    if (data.length < 1_000) break;
  }
  return { slot, rows };
}

async function ask(url: string): Promise<Response> {
  const response = await fetch(url, { headers: { "x-api-key": KEY } });
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
  return response;
}
