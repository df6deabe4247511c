import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { readSettings } from "../../services/shared/settings/settings.ts";
import { chainModel, findProvider, type Provider, readProviders } from "./data.ts";
import { diagnose, dollarsOf, shortForm, startCost } from "./diagnosis.ts";
import { countCalls, estimate, guessPlan, hoursOf, type Means, unitsOf } from "./estimate.ts";
import { examine } from "./examine.ts";
import { formatAmount, formatBytes, formatHours } from "./format.ts";
import { type EndpointFacts, probeEndpoint } from "./probe.ts";
import { report } from "./report.ts";
import { type NodeScript, type ScriptedNode, startScriptedNode } from "./testkit/scripted-node.ts";
import { historyDaysOf, rawDaysOf } from "./work.ts";

const HEAD = 54_300_000;
const WORK = { head: HEAD, poolsFrom: 1_371_680, lendingFrom: undefined, historyDays: 7, rawDays: 8 };
const FREE: Means = { maxBlocks: 10, hasPortal: false, bytesASecond: undefined };
const BASE = chainModel(8453);
const alchemy = findProvider("base-mainnet.g.alchemy.com") as Provider;

describe("estimate", () => {
  it("gives the calls of seven days of Base that were measured", () => {
    const { history, day } = estimate(WORK, { means: { ...FREE, maxBlocks: undefined }, model: BASE });
    // docs/doctor.md: 302,400 full blocks, 18,144 eth_getLogs of 16.7 blocks, 161 GB of JSON.
    expect(history.calls).to.deep.equal({
      eth_getLogs: 18_144,
      eth_blockNumber: 18_144,
      eth_getBlockByNumber: 302_400,
    });
    expect(history.bytes / 1e9).to.be.closeTo(161, 2);
    expect(unitsOf(history.calls, alchemy) / 1e6).to.be.closeTo(7.3, 0.05);
    expect(day.calls).to.deep.equal({
      eth_blockNumber: 86_400,
      eth_getLogs: 86_400,
      eth_getBlockByNumber: 43_200,
      eth_call: 43_200,
    });
  });

  it("scans the chain once for all factories, at ten blocks a range too", () => {
    const blocks = HEAD - 302_400 - WORK.poolsFrom;
    const { discovery } = estimate(WORK, { means: FREE, model: { ...BASE, tokens: 0 } });
    expect(discovery.calls.eth_getLogs).to.equal(Math.ceil(blocks / 10));
    // One header in a hundred blocks, not ten of ten.
    expect(discovery.calls.eth_getBlockByNumber).to.equal(Math.ceil(blocks / 10 / 10));
    const wide = estimate(WORK, { means: { ...FREE, maxBlocks: undefined }, model: { ...BASE, tokens: 0 } });
    expect(wide.discovery.calls.eth_getLogs).to.equal(Math.ceil(blocks / 100_000));
    const telling = estimate(WORK, {
      means: { ...FREE, maxBlocks: 10_000 },
      model: { ...BASE, bloomsTell: true },
    });
    expect(telling.discovery.calls.eth_getBlockByNumber).to.equal(20 * Math.ceil(blocks / 10_000));
  });

  it("asks nothing of RPC for history that a portal has", () => {
    const { history, discovery } = estimate(WORK, { means: { ...FREE, hasPortal: true }, model: BASE });
    expect(countCalls(history.calls)).to.equal(0);
    expect(history.bytes / 1e9).to.be.closeTo(30.2, 0.1);
    expect(Object.keys(discovery.calls)).to.deep.equal(["eth_call"]);
  });

  it("reads no more history than the chain has", () => {
    const young = { ...WORK, head: 1_000, poolsFrom: 0, historyDays: 30 };
    const { history, discovery } = estimate(young, { means: FREE, model: { ...BASE, tokens: 0 } });
    expect(history.calls.eth_getBlockByNumber).to.equal(1_000);
    expect(countCalls(discovery.calls)).to.equal(0);
  });

  it("counts on the disk what retention leaves", () => {
    const diskOf = (historyDays: number, rawDays: number) => {
      const { diskBytes } = estimate({ ...WORK, historyDays, rawDays }, { means: FREE, model: BASE });
      return [diskBytes.history, diskBytes.afterAYear].map((bytes) => Math.round(bytes / 1e9));
    };
    // 6.48 million events a day; docs/retention.md has 48 GB after a year, and 7 GB of users.
    expect(diskOf(7, 8)).to.deep.equal([21, 58]);
    expect(diskOf(400, 8)).to.deep.equal([59, 69]);
    expect(diskOf(400, 30)).to.deep.equal([117, 126]);
    expect(diskOf(400, Number.POSITIVE_INFINITY)).to.deep.equal([1_192, 2_280]);
    expect(diskOf(400, 60)[0], "minutes too").to.equal(202);
  });

  it("takes as long as the slowest of units, bytes, events and answers", () => {
    const cost = { calls: { eth_getLogs: 3_600 }, bytes: 4e9, events: 31_680_000 };
    const none = { means: FREE, provider: undefined, plan: undefined, latencyMs: undefined };
    expect(hoursOf(cost, none)).to.equal(undefined);
    expect(hoursOf(cost, { ...none, latencyMs: 1 })).to.equal(1);
    expect(hoursOf(cost, { ...none, latencyMs: 100_000 })).to.equal(25);
    expect(hoursOf(cost, { ...none, means: { ...FREE, bytesASecond: 100_000 } })).to.be.closeTo(2.78, 0.01);
    const plan = guessPlan(alchemy, 10);
    expect(plan?.name).to.equal("free");
    expect(
      hoursOf({ ...cost, calls: { eth_getLogs: 300_000 } }, { ...none, provider: alchemy, plan }),
    ).to.equal(10);
  });
});

describe("providers", () => {
  it("have a source, a basis and a plan each", () => {
    const providers = readProviders();
    expect(providers.map(({ name }) => name)).to.include.members(["Alchemy", "QuickNode", "Infura"]);
    for (const { name, source, basis, plans, hosts, otherCalls, weights } of providers) {
      expect(source, name).to.match(/^https:\/\//);
      expect(basis, name).to.match(/cited|memory/);
      expect(plans, name).to.not.have.length(0);
      for (const plan of plans) expect(plan.basis, name).to.match(/cited|memory/);
      expect(hosts.every((host) => findProvider(`x.${host}:443`)?.name === name)).to.equal(true);
      for (const weight of [otherCalls, ...Object.values(weights)]) expect(weight, name).to.be.above(0);
    }
  });

  it("are told by their host alone, and not by a name within another", () => {
    expect(findProvider("alchemy.com.example.org")).to.equal(undefined);
    expect(findProvider("notalchemy.com")).to.equal(undefined);
    expect(guessPlan(findProvider("x.quiknode.pro") as Provider, 10_000)?.name).to.equal("Build");
  });
});

describe("the doctor", () => {
  const open: ScriptedNode[] = [];
  afterEach(async () => {
    for (const node of open.splice(0)) await node.close();
  });
  const start = async (script: NodeScript) => {
    const node = await startScriptedNode(script);
    open.push(node);
    return node;
  };
  const probe = async (script: NodeScript): Promise<EndpointFacts> => {
    const { url } = await start(script);
    return probeEndpoint(url, { chainId: 8453, addresses: [], blockSeconds: 2, maxPauseMs: 10 });
  };

  it("finds what an endpoint without limits can do", async () => {
    const facts = await probe({});
    expect(facts).to.deep.include({
      ...{ failure: undefined, head: HEAD, maxBlocks: undefined, limitWords: undefined, maxBatch: 100 },
      ...{
        stateDays: Number.POSITIVE_INFINITY,
        hasReceipts: true,
        hasFinalizedTag: true,
        isRateLimited: false,
      },
    });
    expect(facts.blockBytes).to.be.above(20_000);
    expect(facts.bytesASecond).to.be.above(0);
    expect(JSON.stringify(facts)).to.not.contain("secret-key");
  });

  it("finds the limit of a range by its words, and by trying where there are none", async () => {
    const alchemyWords =
      "Under the Free tier plan, you can make eth_getLogs requests with up to a {max} block range. Based on your parameters, this block range should work: [0x0, 0x9]";
    for (const [maxBlocks, words] of [
      [10, alchemyWords],
      [5, "eth_getLogs is limited to a {max} range"],
      [10_000, "block range is too large, maximum allowed range: {max}"],
      [7_777, "exceed maximum block range: {max}"],
    ] as const) {
      const facts = await probe({ maxBlocks, words });
      expect(facts.maxBlocks, words).to.equal(maxBlocks);
      expect(facts.limitWords).to.contain(words.replace("{max}", String(maxBlocks)));
    }
    expect((await probe({ maxBlocks: 600, words: "block range is too wide" })).maxBlocks).to.equal(500);
    expect((await probe({ maxBlocks: 1, words: "block range is too wide" })).maxBlocks).to.equal(1);
    expect((await probe({ maxBlocks: 0, words: "block range is too wide" })).maxBlocks).to.equal(0);
  });

  it("finds state, batches and receipts that are missing", async () => {
    const facts = await probe({ stateBlocks: 8 * 43_200, maxBatch: 20, hasReceipts: false });
    expect(facts).to.include({ stateDays: 7, maxBatch: 20, hasReceipts: false });
    expect(await probe({ stateBlocks: 128, maxBatch: 1 })).to.include({ stateDays: 0, maxBatch: 1 });
  });

  it("waits where the rate is limited, and names what fails", async () => {
    expect(await probe({ refusals: 1 })).to.include({ failure: undefined, isRateLimited: true });
    expect((await probe({ chainId: 1 })).failure).to.equal("its chain id is 1, not 8453");
    expect((await probe({ status: 401 })).failure).to.be.a("string");
    const gone = await start({});
    await gone.close();
    open.pop();
    const facts = await probeEndpoint(gone.url, { chainId: 8453, addresses: [], blockSeconds: 2 });
    expect(facts.failure).to.be.a("string").and.not.contain("secret-key");
  });

  it("asks few questions", async () => {
    const node = await start({ maxBlocks: 1, words: "block range is too wide", stateBlocks: 0, maxBatch: 1 });
    await probeEndpoint(node.url, { chainId: 8453, addresses: [], blockSeconds: 2 });
    expect(node.requests()).to.be.below(26);
  });

  const deployed = {
    factories: [{ address: `0x${"1".repeat(40)}`, fromBlock: 1_371_680 }],
    lendingScans: [{ fromBlock: 2_000_000 }],
  };
  const endpoint: EndpointFacts = {
    ...{
      host: "base-mainnet.g.alchemy.com",
      failure: undefined,
      head: HEAD,
      maxBlocks: 10,
      limitWords: "up to a 10 block range",
    },
    ...{
      stateDays: Number.POSITIVE_INFINITY,
      maxBatch: 100,
      hasReceipts: true,
      hasFinalizedTag: true,
      latencyMs: 100,
    },
    ...{ bytesASecond: 5e6, blockBytes: 395_000, isRateLimited: false },
  };
  const examined = {
    chainId: 8453,
    name: "Base",
    endpoints: [endpoint],
    portal: undefined,
    hasWebsocket: false,
    deployed,
    historyDays: 7,
    rawDays: 8,
  };

  it("says that a free plan of ten blocks will not do, before anything is asked of it", () => {
    const found = diagnose(examined);
    expect(found.plan?.name).to.equal("free");
    const text = found.warnings.join("\n");
    expect(text).to.contain("serves 10 blocks an eth_getLogs");
    expect(text).to.match(
      /A first start needs \d+ M CU; the free plan of Alchemy has 30 M CU a month: it will not do/,
    );
    expect(text).to.contain("Following the head needs");
    expect(text).to.contain("EVM_PORTAL_8453").and.contain("npm run pools -- import");
    expect(shortForm(found)[0]).to.match(
      /^Base: a first start with 7 days of history asks for [\d.]+ M calls \(\d+ M CU of Alchemy\)/,
    );
    expect(dollarsOf(startCost(found.estimate as never), found)).to.be.above(100);
    const page = report(found);
    for (const words of [
      "up to a 10 block range",
      "archive",
      "100 calls",
      "weights of 20",
      "first start",
      "disk:",
      "$",
    ])
      expect(page).to.contain(words);
  });

  it("has nothing against an archive node of one's own", () => {
    const own = { ...endpoint, host: "127.0.0.1:8545", maxBlocks: undefined, limitWords: undefined };
    const found = diagnose({ ...examined, endpoints: [own] });
    expect(found.warnings).to.deep.equal([]);
    expect(found.provider).to.equal(undefined);
    expect(report(found)).to.contain("Nothing stands against a start.").and.not.contain("CU");
    expect(shortForm(found)).to.have.length(1);
  });

  it("warns of pruned state, of missing receipts, of endpoints and portals that fail", () => {
    const poor = { ...endpoint, host: "node.example", maxBlocks: 10_000, stateDays: 0, hasReceipts: false };
    const broken = { ...endpoint, host: "gone.example", failure: "the connection is refused" };
    const portal = { host: "portal.example", finalBlock: undefined };
    const { warnings } = diagnose({ ...examined, endpoints: [broken, poor], portal });
    expect(warnings).to.have.length(4);
    expect(warnings.join("\n"))
      .to.contain("The portal portal.example does not answer")
      .and.contain("has the state of the last blocks only")
      .and.contain("no eth_getBlockReceipts")
      .and.contain("gone.example is of no use: the connection is refused");
    const none = diagnose({ ...examined, endpoints: [broken] });
    expect(none.estimate).to.equal(undefined);
    expect(shortForm(none)).to.deep.equal(["Base: gone.example is of no use: the connection is refused."]);
    expect(report(none)).to.contain("fails");
  });

  it("counts a portal that answers, and hides the path of its URL", async () => {
    const server = createServer((request, response) => {
      response.end(
        request.url === "/key/base-mainnet/finalized-head" ? `{"number":${HEAD - 500},"hash":"0x1"}` : "null",
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    try {
      const node = await start({ maxBlocks: 10, words: "up to a {max} block range" });
      const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const options = { chainId: 8453, name: "Base", urls: [node.url, "ws://x.example"], deployed };
      const found = await examine({ ...options, env: { EVM_PORTAL_8453: `${base}/key/base-mainnet` } });
      expect(found.portal?.finalBlock).to.equal(HEAD - 500);
      expect(found.warnings).to.deep.equal([]);
      expect(found.hasWebsocket).to.equal(true);
      expect(report(found)).to.not.contain("/key").and.not.contain("secret-key");
      const wrong = await examine({ ...options, env: { EVM_PORTAL_8453: `${base}/other` } });
      expect(wrong.warnings.join()).to.contain("does not answer").and.contain("serves 10 blocks");
    } finally {
      server.close();
    }
  });

  it("takes the days of history from the settings", () => {
    const at = { chainId: 8453, head: 432_000, blockSeconds: 2 };
    expect(historyDaysOf({}, at)).to.equal(7);
    expect(historyDaysOf({ EVM_PORTAL_8453: "https://portal.test" }, at)).to.equal(400);
    expect(historyDaysOf({ HISTORY_DAYS: "30" }, at)).to.equal(30);
    expect(historyDaysOf({ HISTORY_DAYS: "30", START_BLOCK_8453: "388800" }, at)).to.equal(1);
  });

  it("takes the days whose events are kept from the settings", () => {
    expect([
      rawDaysOf({}),
      rawDaysOf({ EVM_RAW_DAYS: "30" }),
      rawDaysOf({ EVM_RAW_DAYS: " " }),
    ]).to.deep.equal([8, 30, 8]);
    expect(rawDaysOf({ EVM_RAW_DAYS: "0" })).to.equal(Number.POSITIVE_INFINITY);
    expect(rawDaysOf({})).to.equal(readSettings({}, ["EVM_RAW_DAYS"]).EVM_RAW_DAYS);
  });

  it("writes amounts that can be read", () => {
    expect([
      formatAmount(0),
      formatAmount(999_999),
      formatAmount(12_345_678),
      formatAmount(1.6e12),
    ]).to.deep.equal([...["0", "999,999", "12.3 M", "1.6 T"]]);
    expect([formatBytes(900), formatBytes(161e9)]).to.deep.equal(["0.9 kB", "161 GB"]);
    expect([formatHours(0.001), formatHours(1.5), formatHours(120)]).to.deep.equal([
      "1 min",
      "1.5 h",
      "5 days",
    ]);
  });
});
