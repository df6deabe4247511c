import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import type { DataVersion } from "../contract/endpoint.ts";
import { ServiceError } from "../errors.ts";
import { bodyOf, startTestApp, type TestApp, until } from "../testkit/fixture.ts";

const VERSION: DataVersion = { block: 100, time: 1_785_932_479, blockHash: "0xaa", fromBlock: 7 };

describe("service/service-app over tables that were never indexed", () => {
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  it("checks why a table has no data only where an answer has no block", async () => {
    const checked: boolean[] = [];
    let hasVersion = false;
    app = await startTestApp({
      handlers: {
        "/test/things": async () => (hasVersion ? { rows: [], version: VERSION } : { rows: [] }),
      },
      async missingDataError(_endpoint, { isAbsent }) {
        checked.push(isAbsent);
        const options = { retryAfterSeconds: 42, isExpected: true };
        return new ServiceError("unavailable", "The things are being read for the first time.", options);
      },
    });
    const { url, lines } = app;
    for (const path of ["/test/things", `/test/thing?pool_address=0x${"1".repeat(40)}`]) {
      const answer = await fetch(url + path);
      expect([answer.status, answer.headers.get("retry-after")], path).to.deep.equal([503, "42"]);
      expect((await bodyOf(answer)).message).to.contain("for the first time");
    }
    expect(checked).to.deep.equal([false, true]);
    hasVersion = true;
    expect((await fetch(`${url}/test/things`)).status).to.equal(200);
    expect(checked).to.have.length(2);
    await until(() => lines.length === 3);
    expect(lines.map(({ level }) => level)).to.deep.equal(["info", "info", "info"]);
  });
});

describe("service/service-app over an earlier block", () => {
  let app: TestApp | undefined;
  afterEach(() => app?.close());

  it("tells the head too, and lets the answer be kept where the block is final", async () => {
    let version: DataVersion = { ...VERSION, head: 120 };
    app = await startTestApp({
      handlers: { "/test/things": async () => ({ rows: [["a", 1]], version }) },
      maxAgeSeconds: () => 2,
    });
    const url = `${app.url}/test/things`;
    const first = (await fetch(url)).headers;
    expect([first.get("x-data-block"), first.get("x-data-head")]).to.deep.equal(["100", "120"]);
    expect(first.get("cache-control"), "not final").to.equal("private, max-age=2");
    version = { ...VERSION, head: 130, isFinal: true };
    const later = (await fetch(url)).headers;
    expect(later.get("x-data-head")).to.equal("130");
    expect(later.get("cache-control")).to.equal("private, max-age=86400, immutable");
    expect(later.get("etag"), "the same answer, whatever the head").to.equal(first.get("etag"));
  });
});
