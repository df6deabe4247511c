import { expect } from "chai";
import fc from "fast-check";
import { after, before, it } from "mocha";
import { catalogue } from "../../gateway/catalogue.ts";
import { describeThoroughRounds } from "../../services/shared/testkit/describe.ts";
import { judge } from "./fuzz-judge.ts";
import { anyRequest, type FuzzRequest, textOf } from "./fuzz-requests.ts";
import { MARK } from "./fuzz-values.ts";
import { exchangeRaw } from "./raw-exchange.ts";
import { type Stack, startStack } from "./stack.ts";

/** npm test sends few, check:full the promised number. FUZZ_SEED repeats a run. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS || 600);
const SEED = process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED);
/** Requests on their way at once. */
const AT_ONCE = 16;
const BATCH = 50;
/** Well beyond the deadline of the gateway (10 s): a machine that is busy with something else is no fault. */
const HANG_MS = 30_000;
const ENDPOINTS = new Map(catalogue.map((endpoint) => [endpoint.path, endpoint]));

describeThoroughRounds(REQUESTS / 250, "the running stack under any requests", () => {
  let stack: Stack;
  const statuses: Record<string, number> = {};
  let sent = 0;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack?.stop());

  it(`answers ${REQUESTS} of them in the documented form, in time, with no 5xx but of a chain without a source`, async () => {
    const ports = { gateway: portOf(stack.url), pay: portOf(stack.payUrl) };
    const send = async (request: FuzzRequest): Promise<void> => {
      const text = textOf(request, { good: stack.key });
      try {
        const answer = await exchangeRaw(ports[request.listener], text, HANG_MS);
        sent += 1;
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        judge(request, answer, ENDPOINTS);
      } catch (cause) {
        const what = cause instanceof Error ? cause.message : String(cause);
        throw new Error(`${what}\nby the request, at the ${request.listener}: ${JSON.stringify(text)}`, {
          cause,
        });
      }
    };
    const batch = fc.array(anyRequest(catalogue, stack.known), { minLength: BATCH, maxLength: BATCH });
    // Batches are not made smaller: the error names the request.
    await fc.assert(
      fc.asyncProperty(fc.noShrink(batch), (requests) => sendAll(requests, send)),
      {
        numRuns: Math.ceil(REQUESTS / BATCH),
        endOnFailure: false,
        ...(SEED !== undefined && { seed: SEED }),
      },
    );
    console.log(`      ${sent} requests: ${JSON.stringify(statuses)}`);
    expect(sent).to.be.at.least(REQUESTS);
    for (const status of [200, 400, 401, 402, 404]) expect(statuses[status], `${status}`).to.be.above(0);
  });

  it("and is unchanged by them: every process up and ready, nothing failed, nothing of them in logs and metrics", async () => {
    const ready = await fetch(`${stack.url}/readyz`);
    expect(ready.status, await ready.text()).to.equal(200);
    for (const [name, { child, lines }] of Object.entries(stack.processes)) {
      expect(child.exitCode ?? child.signalCode, name).to.equal(null);
      for (const line of lines) {
        expect(line, name).to.match(/^\{\P{Cc}*\}$/u);
        expect(line, name).not.to.match(/"level":"(error|fatal)"/);
        expect(line, name).not.to.contain(MARK);
        JSON.parse(line);
      }
    }
    const metrics = await (await fetch(`${stack.adminUrl}/metrics`)).text();
    expect(metrics).not.to.contain(MARK);
    const routes = new Set([...metrics.matchAll(/\broute="([^"]*)"/g)].map(([, route = ""]) => route));
    const pages = ["/", "/docs", "/docs/", "/openapi.json", "/usage", "/livez", "/readyz", "unmatched"];
    pages.push("/status", "/favicon.ico", "/robots.txt", "/llms.txt", "/llms-full.txt", "/.well-known/x402");
    expect([...ENDPOINTS.keys(), ...pages]).to.include.members([...routes]);
  });
});

async function sendAll(
  requests: readonly FuzzRequest[],
  send: (request: FuzzRequest) => Promise<void>,
): Promise<void> {
  let next = 0;
  const sendOn = async () => {
    while (next < requests.length) {
      next += 1;
      await send(requests[next - 1] as FuzzRequest);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendOn));
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
