import { expect } from "chai";
import { afterEach, it } from "mocha";
import { createLog } from "../../services/shared/logging/log.ts";
import { describeLong } from "../../services/shared/testkit/describe.ts";
import { startGateway } from "../service.ts";
import { expectError } from "../testkit/expect-error.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway, testConfig } from "../testkit/gateway.ts";
import { createFakeDirectory, openFakeKeys } from "../testkit/keys.ts";
import { until } from "../testkit/until.ts";
import { answerError, answerTable, startFakeUpstream } from "../testkit/upstream.ts";

/** Beyond the probes' own time limit. */
const LATE_MS = 1_300;

/** As a gateway has it by default: here late probes are the matter. */
const parts = { probeTimeoutMs: 1_000 };

describeLong("gateway: health of services", () => {
  let gateway: TestGateway | undefined;
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await gateway?.stop();
    gateway = undefined;
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  const get = (url: string) => fetch(`${url}/evm/chains`, { headers: { "X-API-KEY": BOOTSTRAP_KEY } });

  it("a probe that is late by a second or two costs no request", async () => {
    gateway = await startTestGateway({ parts });
    const { evmDex } = gateway;
    evmDex.probeDelayMs = LATE_MS;
    const untilMs = performance.now() + 2 * LATE_MS;
    while (performance.now() < untilMs) expect((await gateway.get("/evm/chains")).status).to.equal(200);
    expect((await gateway.get("/readyz")).status).to.equal(200);
  });

  it("requests are still answered where the only replica answers no probe", async () => {
    gateway = await startTestGateway({ parts });
    const { evmDex } = gateway;
    evmDex.probeDelayMs = 60_000;
    await until(async () => (await (gateway as TestGateway).get("/readyz")).status === 503);
    const statuses: number[] = [];
    for (let count = 0; count < 50; count += 1) statuses.push((await gateway.get("/evm/chains")).status);
    expect(statuses).to.deep.equal(Array(50).fill(200));
    evmDex.answer = answerError(404, "not_found");
    await expectError(await gateway.get("/evm/chains"), "not_found");
  });

  it("the only replica is tried although it has failed, a few requests at a time", async () => {
    gateway = await startTestGateway({ config: { deadlineMs: 10_000 }, parts });
    const { evmDex } = gateway;
    evmDex.answer = (_req, res) =>
      void res.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad</h1>");
    for (let count = 0; count < 8; count += 1)
      await expectError(await gateway.get("/evm/chains"), "unavailable");
    expect(evmDex.seen).to.have.length(8);
    const releases: (() => void)[] = [];
    evmDex.answer = (req, res) => void releases.push(() => answerTable(req, res));
    const requests = Array.from({ length: 40 }, () => (gateway as TestGateway).get("/evm/chains"));
    const statuses: number[] = [];
    const answered = requests.map(async (answer) => statuses.push((await answer).status));
    await until(() => statuses.length === 24);
    expect(statuses).to.deep.equal(Array(24).fill(503));
    expect(releases).to.have.length(16);
    for (const release of releases) release();
    await Promise.all(answered);
    expect(statuses.slice(24)).to.deep.equal(Array(16).fill(200));
    evmDex.answer = answerTable;
    expect((await gateway.get("/evm/chains")).status).to.equal(200);
  });

  it("requests right after the start are answered though no service was probed yet; ready only after reaching all", async () => {
    const services = await Promise.all([startFakeUpstream(), startFakeUpstream(), startFakeUpstream()]);
    const [evmDex, lending, solana] = services;
    for (const service of services) service.probeDelayMs = 700;
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line));
    const keys = createFakeDirectory();
    const starting = startGateway(testConfig({ "evm-dex": [evmDex], lending: [lending], solana: [solana] }), {
      log: createLog({ name: "gateway", level: "info", destination: { write } }),
      openKeys: () => openFakeKeys(keys),
    });
    stops.push(...services.map((service) => service.stop), async () => (await starting).stop());
    const urlOf = () => lines.find(({ msg }) => msg === "listening")?.url as string;
    await until(() => urlOf() !== undefined);
    expect((await fetch(`${urlOf()}/readyz`)).status).to.equal(503);
    // Slow enough that all of them are on their way at once.
    evmDex.answer = (req, res) => void setTimeout(() => answerTable(req, res), 100);
    const answers = await Promise.all(Array.from({ length: 100 }, () => get(urlOf())));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(100).fill(200));
    await starting;
    for (const service of services) service.probeDelayMs = 0;
    await until(async () => (await fetch(`${urlOf()}/readyz`)).status === 200);
  });
});
