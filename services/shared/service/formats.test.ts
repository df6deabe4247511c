import { request } from "node:http";
import { expect } from "chai";
import { afterEach, it } from "mocha";
import type { Cell } from "../contract/column.ts";
import type { DataVersion, TableResult } from "../contract/endpoint.ts";
import { FORMATS, mediaTypeOf } from "../contract/format.ts";
import { readBack } from "../format/testkit/read-back.ts";
import { describeLong } from "../testkit/describe.ts";
import { listEndpoint, startTestApp, type TestApp } from "../testkit/fixture.ts";
import { handle } from "./handlers.ts";

const VERSION: DataVersion = { block: 100, time: 1_785_932_479 };
/** Some hundreds of kilobytes. */
const MANY = 12_000;

describeLong("formats of a service's tables", () => {
  let app: TestApp;
  const start = async (result: TableResult, onParams: (params: object) => void = () => {}) => {
    const answer = handle(listEndpoint, async (params) => {
      onParams(params);
      return result;
    });
    app = await startTestApp({ handlers: Object.fromEntries([answer]) });
  };
  afterEach(() => app.close());
  const get = (query = "", headers: Record<string, string> = {}) =>
    fetch(`${app.url}/test/things${query}`, { headers });

  it("are chosen by the query, else by Accept, each with its media type, its own tag and the same rows", async () => {
    const rows = [["a", 1.5]];
    const seen: object[] = [];
    await start({ rows, version: VERSION }, (params) => seen.push(params));
    const tags = new Set<string | null>();
    for (const format of FORMATS) {
      const type = mediaTypeOf(listEndpoint, format);
      const asked = [
        await get(`?format=${format}`, { Accept: "text/csv" }),
        await get("", { Accept: type }),
        await get("", { Accept: `text/csv;q=0.1, ${type};q=0.9` }),
      ];
      for (const answer of asked) {
        expect(answer.headers.get("content-type"), format).to.equal(type);
        expect(answer.headers.get("vary"), format).to.equal("Accept");
        const bytes = Buffer.from(await answer.arrayBuffer());
        expect(answer.headers.get("content-length"), format).to.equal(String(bytes.length));
        expect(await readBack(format, { endpoint: listEndpoint, bytes }), format).to.deep.equal(rows);
      }
      const tag = asked[0]?.headers.get("etag") ?? "";
      tags.add(tag);
      const again = await get("", { Accept: type, "If-None-Match": tag });
      expect([again.status, again.headers.get("vary")], format).to.deep.equal([304, "Accept"]);
    }
    expect(tags).to.have.length(FORMATS.length);
    for (const params of seen) expect(params).to.have.all.keys("chain_id", "limit", "offset");
  });

  it("differ in their tag where the result has no version, too", async () => {
    await start({ rows: [["a", 1.5]] });
    const tags = await Promise.all(
      FORMATS.map(async (format) => (await get(`?format=${format}`)).headers.get("etag")),
    );
    expect(new Set(tags)).to.have.length(FORMATS.length);
  });

  it("that do not exist are 400, and a format sent twice too", async () => {
    await start({ rows: [] });
    for (const query of ["?format=xml", "?format=CSV", "?format=", "?format=csv&format=csv"]) {
      const answer = await get(query);
      expect(answer.status, query).to.equal(400);
      expect(await answer.text(), query).to.contain("format");
    }
  });

  it("of many rows are sent piece by piece, and whole", async () => {
    const rows = Array.from({ length: MANY }, (_, at): Cell[] => [`row ${at} ${"x".repeat(20)}`, at / 2]);
    await start({ rows, version: VERSION });
    for (const format of FORMATS) {
      const answer = await get(`?format=${format}`);
      if (format !== "parquet")
        expect(answer.headers.has("content-length"), format).to.equal(format === "json");
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(await readBack(format, { endpoint: listEndpoint, bytes }), format).to.deep.equal(rows);
      expect((await fetch(`${app.url}/test/things?format=${format}`, { method: "HEAD" })).status).to.equal(
        200,
      );
    }
  });

  it("cut the connection where a client leaves, and the service goes on", async () => {
    const rows = Array.from({ length: MANY }, (_, at): Cell[] => [`row ${at}`.repeat(50), at / 2]);
    await start({ rows, version: VERSION });
    await new Promise<void>((resolve) => {
      const leaving = request(`${app.url}/test/things?format=csv`, (answer) => {
        answer.once("data", () => {
          leaving.destroy();
          resolve();
        });
      });
      leaving.on("error", () => {}).end();
    });
    expect((await get()).status).to.equal(200);
  });
});
