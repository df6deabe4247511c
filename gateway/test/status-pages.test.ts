import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { ChainStatus } from "../../services/shared/grpc/types.ts";
import { VERSION } from "../../services/shared/process/version.ts";
import { describeLong } from "../../services/shared/testkit/describe.ts";
import { catalogue } from "../catalogue.ts";
import { createStatusPage } from "../pages/status.ts";
import { describeResources } from "../pages/well-known.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";

const CHAIN: ChainStatus = {
  ...{ chainId: 8453, name: "Base", state: "serving", share: 1, etaSeconds: null, why: null, since: null },
  ...{ historyFrom: null, historySince: null, historyEtaSeconds: null },
  ...{ indexedBlock: 100, indexedBlockHash: "0xaa", indexedTime: 1_000, fromBlock: 7, chainHead: 103 },
  lagBlocks: 3,
  finalBlock: 68,
};

describeLong("gateway: /status and pages for programs", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
    gateway.evmDex.chains = [CHAIN];
  });
  after(() => gateway.stop());
  const read = (path: string) => fetch(`${gateway.url}${path}`, { redirect: "manual" });

  it("/status names each chain as each service has it, and versions, without a key", async () => {
    // Its health may be polled late on a busy machine.
    const isServing = async () => /"evm-dex":\{"serving":1/.test(await (await read("/status")).text());
    while (!(await isServing())) await sleep(50);
    const answer = await read("/status");
    expect(answer.status).to.equal(200);
    const body = (await answer.json()) as {
      services: Record<string, unknown>;
      chains: Record<string, Record<string, unknown>>;
    };
    expect(body).to.include({ version: VERSION, draining: false });
    expect(body.services["evm-dex"]).to.deep.equal({ serving: 1, replicas: 1, version: "0" });
    expect(body.chains["8453"]?.["evm-dex"])
      .to.include({
        name: "Base",
        state: "serving",
        block: 100,
        head: 103,
        finalBlock: 68,
        lagBlocks: 3,
        fromBlock: 7,
      })
      .and.to.have.property("lagSeconds")
      .above(0);
    expect(JSON.stringify(body)).not.to.contain("127.0.0.1");
  });

  it("/status tells how fast a chain moves once it has seen it move", async () => {
    let nowMs = 2_000_000;
    let block = 100;
    const bodies: string[] = [];
    const page = createStatusPage({
      groups: new Map([["evm-dex", { members: [] }]]) as never,
      statuses: {
        read: async () => new Map([["evm-dex" as const, [{ ...CHAIN, indexedBlock: block }]]]),
        versions: () => new Map(),
      },
      isDraining: () => false,
      nowMs: () => nowMs,
    });
    const res = { setHeader() {}, end: (bytes: Buffer) => void bodies.push(bytes.toString()) };
    const rate = async () => {
      await page({} as never, res as never);
      return JSON.parse(bodies.at(-1) ?? "").chains["8453"]["evm-dex"].blocksPerSecond;
    };
    expect(await rate()).to.equal(undefined);
    [nowMs, block] = [nowMs + 20_000, 110];
    expect(await rate()).to.equal(0.5);
    // A reading that is too near says nothing new.
    [nowMs, block] = [nowMs + 1_000, 150];
    expect(await rate()).to.equal(0.5);
    // A rollback is no speed.
    [nowMs, block] = [nowMs + 20_000, 90];
    expect(await rate()).to.equal(undefined);
  });

  it("/llms.txt leads to every endpoint, /llms-full.txt has every parameter and column", async () => {
    const [index, full] = await Promise.all(
      ["/llms.txt", "/llms-full.txt"].map(async (path) => {
        const answer = await read(path);
        expect(answer.headers.get("content-type"), path).to.equal("text/markdown; charset=utf-8");
        return answer.text();
      }),
    );
    const docs = await (await read("/docs")).text();
    for (const { path, columns } of catalogue) {
      const anchor = path.slice(1).replaceAll("/", "-");
      expect(index).to.contain(`- [GET ${path}](${gateway.url}/docs#${anchor})`);
      expect(docs).to.contain(`id="${anchor}"`);
      for (const { name } of columns) expect(full, path).to.contain(`\`${name}\``);
    }
    expect(index?.length).to.be.below(12_000);
  });

  it("browsers and crawlers find an icon and rules, x402 indexers what is for sale", async () => {
    const icon = await read("/favicon.ico");
    expect(icon.headers.get("content-type")).to.equal("image/svg+xml");
    expect(await icon.text()).to.match(/^<svg /);
    expect(await (await read("/robots.txt")).text()).to.contain("Disallow: /evm/");
    expect(await (await read("/.well-known/x402")).json()).to.deep.equal({ version: 1, resources: [] });
    const priced = catalogue.filter(({ priceUsd }) => priceUsd !== undefined);
    expect(JSON.parse(describeResources(catalogue, "https://pay.example/"))).to.deep.equal({
      version: 1,
      resources: priced.map(({ path }) => `https://pay.example${path}`),
    });
    expect(priced).to.not.deep.equal([]);
    expect((await read("/docs/")).status).to.equal(308);
  });
});
