import { expect } from "chai";
import fc from "fast-check";
import { after, before, it } from "mocha";
import { describeRounds } from "../../services/shared/testkit/describe.ts";
import { expectErrorForm } from "../testkit/expect-error.ts";
import {
  createGatewayProcesses,
  type GatewayProcess,
  type GatewayProcesses,
} from "../testkit/gateway-process.ts";
import { startKeepAliveProxy } from "../testkit/keep-alive-proxy.ts";
import { anyForm, type OddRequest, passedOn, textOf } from "../testkit/odd-requests.ts";
import { type ParsedResponse, parsePipelinedResponses } from "../testkit/pipelined-responses.ts";
import { openRaw } from "../testkit/raw-connection.ts";
import { until } from "../testkit/until.ts";
import { TABLE_TEXT } from "../testkit/upstream.ts";

/** npm test sends few; check:full all that is promised. FUZZ_SEED repeats a run. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS || 200);
const SEED = process.env.FUZZ_SEED === undefined ? {} : { seed: Number(process.env.FUZZ_SEED) };
const KEY = "bootstrap key of the fuzz";
const PER_CONNECTION = 5;
const AT_ONCE = 16;
const POOLED = 4;
/** Beyond the gateway's deadline. */
const HANG_MS = 20_000;
const MAX_GROWTH_BYTES = 150 * 1_048_576;

/** Requests follow each other on one connection, which the last one closes. */
const row = fc.array(anyForm, { minLength: 1, maxLength: PER_CONNECTION });
const batchOf = <T>(each: fc.Arbitrary<T>) =>
  fc.noShrink(fc.array(each, { minLength: AT_ONCE, maxLength: AT_ONCE }));

describeRounds(REQUESTS / 250, "gateway: fuzz of sockets", () => {
  let gateways: GatewayProcesses;
  let gateway: GatewayProcess;
  before(async () => {
    gateways = await createGatewayProcesses();
    gateway = await gateways.start({
      ...{ BOOTSTRAP_API_KEY: KEY, RESPONSE_CACHE_MB: "0", DEADLINE_MS: "5000" },
      ...{ ADDRESS_RATE: "1000000", ADDRESS_BURST: "1000000" },
      // A pay-per-request host that settles nothing, behind the same port.
      ...{ X402_PAY_TO: `0x${"11".repeat(20)}`, X402_PORT: "0", X402_PUBLIC_URL: "http://pay.example" },
      ...{ X402_FACILITATOR_URL: "http://127.0.0.1:1", EVM_RPC_8453: "http://127.0.0.1:1" },
    });
  });
  after(() => gateways?.remove());

  const residentBytes = async () => {
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    return Number(/^process_resident_memory_bytes\{[^}]*\} (\S+)$/m.exec(text)?.[1]);
  };

  /** Runs until so many requests were sent; its memory may grow with the first fifth, and then no more. */
  const runAll = async <T>(each: fc.Arbitrary<T>, send: (value: T) => Promise<number>): Promise<number> => {
    let sent = 0;
    let settledBytes: number | undefined;
    const oneByOne = async (values: readonly T[]) => {
      const counts = await Promise.all(values.map(send));
      sent += counts.reduce((sum, count) => sum + count, 0);
      if (settledBytes === undefined && sent >= REQUESTS / 5) settledBytes = await residentBytes();
    };
    while (sent < REQUESTS) {
      const numRuns = Math.ceil((REQUESTS - sent) / (AT_ONCE * PER_CONNECTION));
      await fc.assert(fc.asyncProperty(batchOf(each), oneByOne), { numRuns, endOnFailure: true, ...SEED });
    }
    const grown = (await residentBytes()) - (settledBytes as number);
    expect(grown, "memory").to.be.below(MAX_GROWTH_BYTES);
    return sent;
  };

  it(`answers or closes ${REQUESTS} requests of any method, body, framing and version, several in a row`, async () => {
    const statuses = new Map<number, number>();
    const sendRow = async (requests: readonly OddRequest[]): Promise<number> => {
      const last = requests.length - 1;
      const texts = requests.map((request, at) =>
        textOf(
          at === last ? { ...request, headers: [...request.headers, ["Connection", "close"]] } : request,
        ),
      );
      const connection = await openRaw(gateway.url);
      try {
        for (const text of texts) connection.write(text);
        const isClosed = await connection.closedWithin(HANG_MS);
        const received = connection.text();
        const answers = parsePipelinedResponses(
          received,
          requests.map(({ method }) => method),
        );
        expect(isClosed, `left open after ${JSON.stringify(received.slice(-300))}`).to.equal(true);
        judgeRow(requests, answers);
        for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      } catch (cause) {
        throw new Error(`${(cause as Error).message}\nby ${JSON.stringify(texts)}`, { cause });
      } finally {
        connection.destroy();
      }
      return requests.length;
    };
    await runAll(row, sendRow);
    // The others are rare: a few hundred requests may have none.
    const wanted = REQUESTS < 1_000 ? [400, 401, 404] : [200, 204, 400, 401, 404, 505];
    for (const status of wanted) expect(statuses.get(status) ?? 0, `${status}`).to.be.above(0);
  });

  it(`lets no client behind a keep-alive proxy wait for another one's ${REQUESTS} requests`, async () => {
    const proxy = await startKeepAliveProxy(gateway.url, POOLED);
    let answered = 0;
    const get = async (path: string): Promise<{ status: number; text: string }> => {
      const answer = await fetch(`${proxy.url}${path}`, {
        headers: { "X-API-KEY": KEY },
        signal: AbortSignal.timeout(HANG_MS),
      });
      return { status: answer.status, text: await answer.text() };
    };
    /** One odd request, and a good client's before, beside and behind it. */
    const sendBeside = async (odd: OddRequest): Promise<number> => {
      const text = textOf({ ...odd, headers: [...odd.headers, ["Connection", "close"]] });
      const strange = async () => {
        const connection = await openRaw(proxy.url);
        connection.write(text);
        const isClosed = await connection.closedWithin(HANG_MS);
        connection.destroy();
        expect(isClosed, `not answered: ${JSON.stringify(text)}`).to.equal(true);
      };
      const good = async () => {
        const answer = await get("/evm/chains");
        expect(answer, `beside ${JSON.stringify(text)}`).to.deep.equal({ status: 200, text: TABLE_TEXT });
        answered += 1;
      };
      await Promise.all([strange(), good()]);
      await good();
      return 1;
    };
    try {
      const sent = await runAll(passedOn, sendBeside);
      expect(answered).to.equal(2 * sent);
      expect(proxy.reused(), "kept connections").to.be.above(sent / 10);
    } finally {
      await proxy.stop();
    }
  });

  it("and works as before: it serves, and has logged no fault of its own", async () => {
    expect((await gateway.get("/evm/chains", KEY)).status).to.equal(200);
    await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    const faults = gateway
      .stdout()
      .split("\n")
      .filter((line) => /"level":"(error|fatal)"/.test(line));
    expect(faults.slice(0, 5)).to.deep.equal([]);
  });
});

/** Every answer in the documented form, and one for each request up to the one that ends the connection. */
function judgeRow(requests: readonly OddRequest[], answers: readonly ParsedResponse[]): void {
  expect(answers.length).to.be.at.most(requests.length);
  for (const [at, { status, headers, body }] of answers.entries()) {
    const isLast = at === answers.length - 1;
    expect(status, body).to.satisfy((code: number) => (code >= 200 && code < 500) || code === 505);
    expect(status, body).not.to.equal(408);
    expect(headers.get("connection"), "an answer that closes is the last one").to.equal(
      isLast ? "close" : "keep-alive",
    );
    if (requests[at]?.method !== "HEAD" && status >= 400 && status !== 402)
      expectErrorForm({
        status,
        body,
        type: headers.get("content-type"),
        session: headers.get("x-session-id"),
      });
    // One that is refused for its form ends its connection, and so nothing behind it may be answered.
    const request = requests[at] as OddRequest;
    if (request.framing.length > 0 || !["1.1", "1.0"].includes(request.version)) {
      expect(status, JSON.stringify(request)).to.be.oneOf([400, 404, 505]);
      expect(isLast, JSON.stringify(request)).to.equal(true);
    }
  }
}
