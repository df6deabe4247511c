import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { FORMAT_MEDIA_TYPES, FORMATS, type Format } from "../../services/shared/contract/format.ts";
import { negotiateFormat } from "../../services/shared/format/negotiate.ts";
import { describeLong } from "../../services/shared/testkit/describe.ts";
import { createManualClock } from "../testkit/clock.ts";
import { expectError } from "../testkit/expect-error.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { answerError, mediaTypeOf } from "../testkit/upstream.ts";

const PATH = "/evm/dexb/v3/pools";
/** Longer than what is worth compressing, and not UTF-8. */
const BODY = Buffer.alloc(4_000, Buffer.from([0x50, 0xff, 0x00, 0xc3]));
const typeOf = (format: Format) => (format === "json" ? mediaTypeOf(PATH) : FORMAT_MEDIA_TYPES[format]);

describeLong("gateway: formats", () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway({
      config: { cacheBytes: 8_000_000 },
      parts: { clock: createManualClock() },
    });
    // As a service: the query wins over Accept, each format has a tag of its own.
    gateway.evmDex.answer = (req, res) => {
      const named = new URL(req.url ?? "", "http://x").searchParams.get("format") as Format | null;
      const format = named ?? negotiateFormat(req.headers.accept);
      const head = { ETag: `W/"${format}"`, "Cache-Control": "private, max-age=1", Vary: "Accept" };
      res.writeHead(200, { "Content-Type": typeOf(format), ...head }).end(BODY);
    };
  });
  afterEach(() => gateway.stop());

  it("are entries of their own in the cache, whether Accept or the query names them", async () => {
    for (const word of ["miss", "hit"]) {
      for (const format of FORMATS) {
        const asked = [
          await gateway.get(PATH, { headers: { Accept: typeOf(format) } }),
          await gateway.get(`${PATH}?format=${format}`, { headers: { Accept: "*/*" } }),
        ];
        for (const answer of asked) {
          expect(answer.headers.get("content-type")).to.equal(typeOf(format));
          expect(answer.headers.get("etag")).to.equal(`W/"${format}"`);
          expect(answer.headers.get("x-cache"), format).to.equal(word);
          expect(Buffer.from(await answer.arrayBuffer()).equals(BODY), format).to.equal(true);
        }
      }
    }
    expect(
      (await gateway.get(PATH, { headers: { Accept: "text/html, */*" } })).headers.get("x-cache"),
    ).to.equal("hit");
    expect(gateway.evmDex.seen).to.have.length(2 * FORMATS.length);
  });

  it("reach the service as one of our media types, not as the client's header", async () => {
    for (const accept of ["text/csv;q=0.4, secret/x;y=z", "application/json, */*", "secret/x"])
      await gateway.get(PATH, { headers: { Accept: accept } });
    const sent = gateway.evmDex.seen.map(({ headers }) => headers.accept);
    expect(sent).to.deep.equal([FORMAT_MEDIA_TYPES.csv, undefined]);
  });

  it("wait for a request of their own, never for one of another format", async () => {
    const answers = await Promise.all(
      FORMATS.flatMap((format) =>
        [1, 2].map(() => gateway.get(PATH, { headers: { Accept: typeOf(format) } })),
      ),
    );
    expect(answers.map(({ headers }) => headers.get("content-type"))).to.deep.equal(
      FORMATS.flatMap((format) => [typeOf(format), typeOf(format)]),
    );
    expect(gateway.evmDex.seen).to.have.length(FORMATS.length);
  });

  it("are 304 for a client that has the tag of that format only", async () => {
    const get = async (accept: string, tag: string) =>
      (await gateway.get(PATH, { headers: { Accept: accept, "If-None-Match": tag } })).status;
    expect(await get("text/csv", 'W/"csv"')).to.equal(304);
    expect(await get("text/csv", 'W/"json"')).to.equal(200);
  });

  it("are compressed, but for Parquet, which is", async () => {
    for (const format of FORMATS) {
      const { headers } = await gateway.get(`${PATH}?format=${format}`, {
        headers: { "Accept-Encoding": "br" },
      });
      const isPlain = format === "parquet";
      expect(headers.get("content-encoding"), format).to.equal(isPlain ? null : "br");
      expect(headers.get("vary"), format).to.equal(isPlain ? "Accept" : "Accept, Accept-Encoding");
    }
  });

  it("do not change errors", async () => {
    gateway.evmDex.answer = answerError(400, "bad_request");
    const answer = await gateway.get(`${PATH}?format=xml`, { headers: { Accept: "text/csv" } });
    expect(answer.headers.get("content-type")).to.equal("application/json");
    await expectError(answer, "bad_request");
  });
});
