import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import type { PortalFault } from "./faults.ts";
import type { PortalLie } from "./lies.ts";
import type { Portal, PortalOptions } from "./portal.ts";
import { linesOf, numbersOf, type PortalAnswer, plainBlock, queryFor, send, startPlain } from "./testkit.ts";

const WHOLE = queryFor({ fromBlock: 0, toBlock: 100, includeAllBlocks: true });

describe("local portal: faults", () => {
  let portal: Portal;
  afterEach(() => portal.close());

  async function meet(fault: PortalFault, options: Partial<PortalOptions> = {}, path = "/stream") {
    portal = await startPlain(options);
    portal.force(fault);
    const body = path === "/stream" ? WHOLE : undefined;
    const answer = await send(`${portal.url}${path}`, body === undefined ? {} : { body });
    expect(portal.counts()[fault]).to.equal(1);
    return answer;
  }

  const whole = async () =>
    gunzipSync((await send(`${portal.url}/stream`, { body: WHOLE })).bytes).toString();
  const isAscending = ({ text }: PortalAnswer) =>
    expect(numbersOf(text)).to.deep.equal(numbersOf(text).map((_, i) => i));

  it("cut: a whole body that ends early, at a whole line", async () => {
    const answer = await meet("cut");
    expect([answer.status, answer.isWhole]).to.deep.equal([200, true]);
    expect(answer.text.endsWith("}\n")).to.equal(true);
    expect(numbersOf(answer.text).length).to.be.within(1, 60);
    isAscending(answer);
    expect((await whole()).startsWith(answer.text)).to.equal(true);
  });

  it("cutLine: whole gzip, the last line is not", async () => {
    const answer = await meet("cutLine");
    expect(answer.isWhole).to.equal(true);
    const text = gunzipSync(answer.bytes).toString();
    expect(text.endsWith("\n")).to.equal(false);
    expect(() => JSON.parse(text.slice(text.lastIndexOf("\n") + 1))).to.throw();
    expect((await whole()).startsWith(text)).to.equal(true);
  });

  it("truncatedGzip: the connection ends in order, the gzip does not", async () => {
    const answer = await meet("truncatedGzip");
    expect(answer.isWhole).to.equal(true);
    expect(() => gunzipSync(answer.bytes)).to.throw("unexpected end");
    isAscending(answer);
  });

  it("resetBody: the connection breaks in the body", async () => {
    const { status, isWhole } = await meet("resetBody");
    expect([status, isWhole]).to.deep.equal([200, false]);
  });

  it("stall: the body stops, the connection stays", async () => {
    const startedMs = performance.now();
    const { bytes, isWhole } = await meet("stall");
    expect(bytes.length).to.be.greaterThan(0);
    expect([isWhole, performance.now() - startedMs > 450]).to.deep.equal([false, true]);
  });

  it("hang and reset: no answer", async () => {
    portal = await startPlain();
    portal.force("reset");
    const code = await send(`${portal.url}/head`).then(
      () => "answered",
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(code).to.equal("ECONNRESET");
    portal.force("hang");
    const outcome = await Promise.race([
      send(`${portal.url}/head`).catch(() => "closed"),
      new Promise((resolve) => setTimeout(resolve, 200, "nothing")),
    ]);
    expect(outcome).to.equal("nothing");
  });

  const STATUS = { limited: 429, overloaded: 529, busy: 503, workerFailure: 500, badGateway: 502 } as const;
  for (const [fault, status] of Object.entries(STATUS) as [keyof typeof STATUS, number][]) {
    it(`${fault}: ${status}, with and without Retry-After, and then it is well`, async () => {
      const hasPause = fault !== "workerFailure" && fault !== "badGateway";
      const patient = await meet(fault, { retryAfter: true });
      expect([patient.status, patient.headers["retry-after"]]).to.deep.equal([
        status,
        hasPause ? "1" : undefined,
      ]);
      await portal.close();
      const bare = await meet(fault, { retryAfter: false });
      expect([bare.status, bare.headers["retry-after"]]).to.deep.equal([status, undefined]);
      expect((await send(`${portal.url}/head`)).status).to.equal(200);
    });
  }

  it("noData: 204 though there are blocks", async () => {
    expect((await meet("noData")).status).to.equal(204);
    expect(numbersOf(await whole())).to.have.length(101);
  });

  it("nullHead: both heads may be null", async () => {
    expect((await meet("nullHead", {}, "/finalized-head")).text).to.equal("null");
    expect(JSON.parse((await send(`${portal.url}/finalized-head`)).text).number).to.equal(100);
  });

  it("noHeadHeaders and finalizedBack", async () => {
    const { headers, status } = await meet("noHeadHeaders");
    expect(status).to.equal(200);
    expect(Object.keys(headers).filter((name) => /x-sqd-.*head/.test(name))).to.deep.equal([]);
    portal.force("finalizedBack");
    const back = await send(`${portal.url}/stream`, { body: WHOLE });
    expect(back.headers["x-sqd-finalized-head-number"]).to.equal("90");
  });

  it("the plan is the same for a seed however requests interleave, another one for another seed", async () => {
    const bodies = Array.from({ length: 40 }, (_, i) => queryFor({ fromBlock: i, toBlock: 100 }));
    const draw = async (seed: number, isParallel: boolean) => {
      portal = await startPlain({ seed, faults: { busy: 0.3, cut: 0.3 } });
      const ask = async (body: string) => (await send(`${portal.url}/stream`, { body })).text;
      const texts: string[] = [];
      if (isParallel) texts.push(...(await Promise.all([...bodies].reverse().map(ask))).reverse());
      else for (const body of bodies) texts.push(await ask(body));
      const counts = portal.counts();
      await portal.close();
      const isStable = (text: string) => text.replace(/"request_id":"[^"]*"/, "");
      return { texts: texts.map(isStable), counts };
    };
    const first = await draw(7, false);
    expect(await draw(7, true)).to.deep.equal(first);
    expect(first.counts.busy).to.be.within(4, 20);
    expect((await draw(8, false)).texts).not.to.deep.equal(first.texts);
    portal = await startPlain();
  });
});

describe("local portal: lies", () => {
  const BLOCK = 33;
  const query = queryFor({ fromBlock: 0, toBlock: 100, includeAllBlocks: true });

  /** The line of a block, and of the one after it, from a portal that lies about it. */
  async function told(lie: PortalLie) {
    const portal = await startPlain({ lies: [{ lie, block: BLOCK }] });
    try {
      const lines = linesOf((await send(`${portal.url}/stream`, { body: query })).text);
      const line = lines.find(({ header }) => header.number === BLOCK);
      const others = lines.filter(({ header }) => header.number !== BLOCK);
      portal.setLies([]);
      const honest = linesOf((await send(`${portal.url}/stream`, { body: query })).text);
      expect(others).to.deep.equal(honest.filter(({ header }) => header.number !== BLOCK));
      return { line, honest: honest.find(({ header }) => header.number === BLOCK) };
    } finally {
      await portal.close();
    }
  }

  it("withheldLog, withheldLogs: a log that is asked for is missing", async () => {
    for (const lie of ["withheldLog", "withheldLogs"] as const) {
      const { line, honest } = await told(lie);
      expect(honest?.logs).to.have.length(1);
      expect(line).to.deep.equal({ header: honest?.header });
    }
  });

  it("changedSender: one digit of the sender", async () => {
    const { line, honest } = await told("changedSender");
    const from = ({ transactions }: { transactions?: readonly Record<string, unknown>[] } = {}) =>
      String(transactions?.[0]?.from);
    expect(from(line)).not.to.equal(from(honest));
    expect(from(line).slice(0, -1)).to.equal(from(honest).slice(0, -1));
    expect({ ...line, transactions: null }).to.deep.equal({ ...honest, transactions: null });
  });

  it("changedData: one digit of a log's data", async () => {
    const { line, honest } = await told("changedData");
    expect(line?.logs?.[0]?.data).not.to.equal(honest?.logs?.[0]?.data);
    expect({ ...line, logs: null }).to.deep.equal({ ...honest, logs: null });
  });

  it("brokenParent, changedTime, changedHash: the header no longer fits", async () => {
    const { header } = plainBlock(BLOCK);
    const parent = await told("brokenParent");
    expect(parent.line?.header.parentHash).not.to.equal(header.parentHash);
    expect(parent.line?.header.hash).to.equal(header.hash);
    expect((await told("changedTime")).line?.header.timestamp).to.equal(header.timestamp + 60);
    const hash = await told("changedHash");
    expect(hash.line?.header.hash).not.to.equal(header.hash);
    expect(hash.line?.header.parentHash).to.equal(header.parentHash);
  });

  it("hiddenBlock: no line", async () => {
    expect((await told("hiddenBlock")).line).to.equal(undefined);
  });
});
