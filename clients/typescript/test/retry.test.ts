import { expect } from "chai";
import { beforeEach, describe, it } from "mocha";
import { ApiError, Client, type ClientOptions, UnreachableError } from "../src/index.ts";

type Script = Response | Error | ((url: string, init: RequestInit) => Promise<Response>);

const TABLE = [{ columns: [{ name: "chainId", type: "UInt32" }], data: [[1], [8453]], rows: 2 }];
const table = (headers: Record<string, string> = {}) => Response.json(TABLE, { headers });
const refused = (status: number, retryAfter?: string) =>
  Response.json(
    { error: status === 429 ? "rate_limited" : "unavailable", message: "Later.", session: "s1" },
    { status, headers: retryAfter === undefined ? {} : { "Retry-After": retryAfter } },
  );

describe("the TypeScript client asks again", () => {
  let asked: Headers[];
  let waits: number[];
  beforeEach(() => {
    asked = [];
    waits = [];
  });

  function clientOf(scripts: readonly Script[], options: Partial<ClientOptions> = {}): Client {
    const left = [...scripts];
    const scripted = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
      asked.push(new Headers(init.headers));
      const script = left.shift();
      if (script === undefined) throw new Error("the script has ended");
      if (script instanceof Error) throw script;
      return typeof script === "function" ? script(String(input), init) : script;
    };
    const wait = async (waitMs: number) => void waits.push(waitMs);
    const { retry, ...rest } = options;
    const fetch = scripted as typeof globalThis.fetch;
    return new Client({ url: "http://x", apiKey: "k", fetch, retry: { wait, ...retry }, ...rest });
  }

  it("after 429 and 503, never earlier than Retry-After says and little later", async () => {
    const client = clientOf([refused(429, "3"), refused(503, "2"), table()]);
    expect((await client.get("/evm/chains")).rows).to.deep.equal([{ chainId: 1 }, { chainId: 8453 }]);
    expect(waits).to.have.length(2);
    expect(waits[0]).to.be.within(3_000, 4_000);
    expect(waits[1]).to.be.within(2_000, 3_000);
  });

  it("at a date, too, and after growing waits where there is none", async () => {
    const date = new Date(Date.now() + 30_000).toUTCString();
    await clientOf([refused(503, date), table()]).get("/evm/chains");
    // A date has whole seconds.
    expect(waits[0]).to.be.within(20_000, 31_000);
    waits = [];
    await clientOf([refused(503), new TypeError("reset"), refused(429), table()]).get("/evm/chains");
    expect(waits.map((waitMs, at) => waitMs >= 125 * 2 ** at && waitMs <= 250 * 2 ** at)).to.deep.equal([
      true,
      true,
      true,
    ]);
  });

  it("so often and no more, and throws what came last", async () => {
    const scripts = [refused(503, "1"), refused(503, "1"), refused(429, "1"), table()];
    const error = await failureOf(clientOf(scripts, { retry: { tries: 3 } }).get("/evm/chains"));
    expect(error).to.be.instanceOf(ApiError);
    expect(error).to.include({ code: "rate_limited", status: 429, session: "s1", retryAfterSeconds: 1 });
    expect(asked).to.have.length(3);
  });

  it("not at all where the wait is longer than allowed, such as for the next day's quota", async () => {
    const error = await failureOf(clientOf([refused(429, "40000")]).get("/evm/chains"));
    expect(error).to.include({ code: "rate_limited", retryAfterSeconds: 40_000 });
    expect(waits).to.deep.equal([]);
  });

  it("not after errors that would come again", async () => {
    for (const status of [400, 401, 403, 404, 408, 500]) {
      asked = [];
      const body = { error: "some_error", message: "So it is.", session: "s" };
      const error = await failureOf(clientOf([Response.json(body, { status })]).get("/evm/chains"));
      expect(error).to.include({ status, code: "some_error", message: "So it is." });
      expect(asked).to.have.length(1);
    }
  });

  it("when a body breaks off, and says after all tries that there was no answer", async () => {
    const broken = () =>
      new Response(new ReadableStream({ start: (stream) => stream.error(new TypeError("broken")) }));
    expect((await clientOf([broken(), table()]).get("/evm/chains")).rows).to.have.length(2);
    const error = await failureOf(clientOf([broken(), broken(), broken(), broken()]).get("/evm/chains"));
    expect(error).to.be.instanceOf(UnreachableError).and.have.property("message", "No answer from http://x.");
  });

  it("after a try that took too long", async () => {
    const hanging: Script = (_url, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        // A timer of AbortSignal alone does not keep Node running.
        setTimeout(() => {}, 200);
      });
    expect((await clientOf([hanging, table()], { timeoutMs: 5 }).get("/evm/chains")).rows).to.have.length(2);
  });

  it("not once its caller has given up, during a request or between two", async () => {
    for (const giveUpAt of ["request", "wait"] as const) {
      asked = [];
      const caller = new AbortController();
      const answering: Script = async () => {
        if (giveUpAt === "request") caller.abort(new Error("enough"));
        caller.signal.throwIfAborted();
        setTimeout(() => caller.abort(new Error("enough")), 5);
        return refused(503, "30");
      };
      const client = clientOf([answering, table()], { retry: { wait: undefined } });
      const error = await failureOf(client.get("/evm/chains", {}, { signal: caller.signal }));
      expect(error).to.have.property("message", "enough");
      expect(asked).to.have.length(1);
    }
  });

  it("says that an answer is not from chaintables, whatever its status", async () => {
    for (const [status, text] of [
      [200, "<html>"],
      [200, "{}"],
      [200, "null"],
      [502, "Bad Gateway"],
    ] as const) {
      const error = await failureOf(clientOf([new Response(text, { status })]).get("/evm/chains"));
      expect(error).to.be.instanceOf(ApiError).and.include({ status, code: "unknown" });
    }
  });

  it("sends the key to the instance alone: a redirect is an error", async () => {
    let redirect: unknown;
    const client = clientOf([
      async (_url, init) => {
        redirect = init.redirect;
        return table();
      },
    ]);
    await client.get("/evm/chains");
    expect(redirect).to.equal("error");
    expect(asked[0]?.get("x-api-key")).to.equal("k");
  });

  it("keeps no more rows than allowed, the last asked for", async () => {
    const tagged = (etag: string) => table({ ETag: etag });
    const unchanged = () => new Response(null, { status: 304 });
    const scripts = [tagged("a"), tagged("b"), unchanged(), tagged("c"), unchanged(), tagged("b2")];
    const client = clientOf(scripts, { cacheRows: 6 });
    const ask = (offset: number) => client.get("/evm/dexb/v3/pools", { offset });
    const first = await ask(1);
    await ask(2);
    expect(await ask(1)).to.equal(first);
    // Two rows and one for the table itself: the third drops the second, which was asked for before the first.
    await ask(3);
    expect(await ask(1)).to.equal(first);
    await ask(2);
    const tags = asked.map((headers) => headers.get("if-none-match"));
    expect(tags).to.deep.equal([null, null, "a", null, "a", null]);
    const without = clientOf([tagged("a"), tagged("a")], { cacheRows: 0 });
    await without.get("/evm/chains");
    await without.get("/evm/chains");
    expect(asked.at(-1)?.get("if-none-match")).to.equal(null);
  });
});

function failureOf(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => expect.fail("no error"),
    (error: Error) => error,
  );
}
