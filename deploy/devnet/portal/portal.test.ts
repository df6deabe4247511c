import { gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import type { Portal, PortalOptions } from "./portal.ts";
import {
  ALL_FIELDS,
  CONTRACT,
  linesOf,
  numbersOf,
  OTHER,
  plainBlock,
  plainBlocks,
  queryFor,
  send,
  startPlain,
  TOPIC_A,
  TOPIC_B,
} from "./testkit.ts";

describe("local portal", () => {
  let portal: Portal | undefined;
  afterEach(async () => {
    await portal?.close();
    portal = undefined;
  });

  async function ask(query: Record<string, unknown>, options: Partial<PortalOptions> = {}, route = "stream") {
    portal ??= await startPlain(options);
    return send(`${portal.url}/${route}`, { body: queryFor(query) });
  }

  describe("streams", () => {
    it("answers bytes of gzip, one JSON object a line, with the headers of both heads", async () => {
      const { status, headers, bytes } = await ask({ fromBlock: 2, toBlock: 4 }, { finalizedLag: 40 });
      expect(status).to.equal(200);
      expect([...bytes.subarray(0, 2)]).to.deep.equal([0x1f, 0x8b]);
      expect(headers).to.include({
        "content-type": "application/jsonl",
        "content-encoding": "gzip",
        "transfer-encoding": "chunked",
        "x-sqd-data-source": "network",
        "x-sqd-head-number": "100",
        "x-sqd-finalized-head-number": "60",
        "x-sqd-finalized-head-hash": plainBlock(60).header.hash,
      });
      const [three] = [plainBlock(3)];
      const head = (n: number) => {
        const { number, hash, parentHash, timestamp } = plainBlock(n).header;
        return JSON.stringify({ header: { number, hash, parentHash, timestamp } });
      };
      const log = three.logs[0] as Record<string, unknown>;
      const { hash, from } = three.transactions[1] as Record<string, unknown>;
      const matched =
        `${head(3).slice(0, -1)},"logs":[{"logIndex":0,"transactionIndex":1,"address":"${CONTRACT}",` +
        `"data":"${log.data}","topics":["${TOPIC_A}","${TOPIC_B}"]}],` +
        `"transactions":[{"transactionIndex":1,"hash":"${hash}","from":"${from}"}]}`;
      expect(gunzipSync(bytes).toString("utf8")).to.equal(`${head(2)}\n${matched}\n${head(4)}\n`);
    });

    it("has blocks with a match, and always the first and the last one", async () => {
      const { text } = await ask({ fromBlock: 1, toBlock: 11 });
      expect(numbersOf(text)).to.deep.equal([1, 3, 6, 9, 11]);
      const silent = await ask({ fromBlock: 1, toBlock: 50, logs: [{ topic0: [OTHER] }] });
      expect(numbersOf(silent.text)).to.deep.equal([1, 50]);
      const one = await ask({ fromBlock: 4, toBlock: 4 });
      expect(one.text.split("\n")).to.have.length(2);
    });

    it("has the first and the last line of every chunk within", async () => {
      const { text } = await ask({ fromBlock: 1, toBlock: 50, logs: [] }, { chunkBlocks: 20 });
      expect(numbersOf(text)).to.deep.equal([1, 20, 21, 40, 41, 50]);
    });

    it("ends a chunk by its weight, and an answer after max_chunks, without a mark", async () => {
      const weight = 4 * 32 + 5 * 32 + 3 * 32;
      portal = await startPlain({ chunkWeight: weight });
      const body = queryFor({ fromBlock: 1, toBlock: 50 });
      const { text, isWhole } = await send(`${portal.url}/stream?max_chunks=1&buffer_size=10`, { body });
      expect(isWhole).to.equal(true);
      // Two silent blocks of 128 and one with a log of 64 bytes and its transaction.
      expect(numbersOf(text)).to.deep.equal([1, 3]);
      for (const wrong of ["max_chunks=0", "buffer_size=x"])
        expect((await send(`${portal.url}/stream?${wrong}`, { body })).status, wrong).to.equal(400);
    });

    it("has header-only lines anywhere, the same for the same seed", async () => {
      const query = { fromBlock: 0, toBlock: 100, logs: [] };
      const draws: unknown[][] = [];
      for (const seed of [1, 1, 2]) {
        const { text } = await ask(query, { strayHeaders: 0.1, seed });
        draws.push(numbersOf(text));
        expect(linesOf(text).every((line) => Object.keys(line).join() === "header")).to.equal(true);
        await portal?.close();
        portal = undefined;
      }
      expect(draws[0]).to.deep.equal(draws[1]).and.not.to.deep.equal(draws[2]);
      expect(draws[0]?.length).to.be.within(5, 25);
    });

    it("has every block with includeAllBlocks", async () => {
      const { text } = await ask({ fromBlock: 10, toBlock: 20, includeAllBlocks: true });
      expect(numbersOf(text)).to.deep.equal([10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    });

    it("goes on from the archive to the real-time source in another answer, and waits in the gap between", async () => {
      const archive = await ask({ fromBlock: 50, logs: [] }, { finalizedLag: 40, gap: 5 });
      expect(numbersOf(archive.text)).to.deep.equal([50, 60]);
      expect((await ask({ fromBlock: 61, logs: [] })).status).to.equal(204);
      const live = await ask({ fromBlock: 66, logs: [] });
      expect(live.headers["x-sqd-data-source"]).to.equal("real_time");
      expect(numbersOf(live.text)).to.deep.equal([66, 100]);
      expect((await ask({ fromBlock: 66, logs: [] }, {}, "finalized-stream")).status).to.equal(204);
    });

    it("holds a request beyond the head before its 204", async () => {
      portal = await startPlain({ waitMs: 80 });
      const startedMs = performance.now();
      const { status, bytes, headers } = await ask({ fromBlock: 101 });
      expect(performance.now() - startedMs).to.be.at.least(75);
      expect([status, bytes.length, headers["x-sqd-head-number"]]).to.deep.equal([204, 0, "100"]);
    });

    it("compares the parent on /stream alone, before it says that there is nothing", async () => {
      const parentBlockHash = plainBlock(95, 1).header.hash;
      const { status, text } = await ask(
        { fromBlock: 96, parentBlockHash },
        { forks: { order: "ascending", error: true } },
      );
      expect(status).to.equal(409);
      const fork = JSON.parse(text) as { previousBlocks: unknown[]; error: { code: string } };
      expect(fork.error.code).to.equal("base_block_mismatch");
      expect(fork.previousBlocks).to.deep.equal(
        [91, 92, 93, 94, 95].map((number) => ({ number, hash: plainBlock(number).header.hash })),
      );
      expect((await ask({ fromBlock: 101, parentBlockHash })).status).to.equal(409);
      expect((await ask({ fromBlock: 96, parentBlockHash }, {}, "finalized-stream")).status).to.equal(200);
      const right = plainBlock(95).header.hash;
      expect((await ask({ fromBlock: 96, parentBlockHash: right })).status).to.equal(200);
      portal?.serve(plainBlocks(100, 1));
      expect((await ask({ fromBlock: 96, parentBlockHash: right })).status).to.equal(409);
      expect((await ask({ fromBlock: 96, parentBlockHash })).status).to.equal(200);
    });

    it("tells a fork newest first and without an error, as older portals do", async () => {
      const { text } = await ask(
        { fromBlock: 3, parentBlockHash: "0x00" },
        { forks: { order: "descending", error: false } },
      );
      expect(JSON.parse(text)).to.deep.equal({
        previousBlocks: [2, 1, 0].map((number) => ({ number, hash: plainBlock(number).header.hash })),
      });
    });

    it("takes a body in gzip, and echoes the request's id", async () => {
      portal = await startPlain();
      const body = gzipSync(queryFor({ fromBlock: 3, toBlock: 3 }));
      const headers = { "content-encoding": "gzip", "x-request-id": "mine" };
      const answer = await send(`${portal.url}/stream`, { body, headers });
      expect([answer.status, answer.headers["x-request-id"]]).to.deep.equal([200, "mine"]);
      expect((await send(`${portal.url}/stream`, { body: "{}", headers })).status).to.equal(400);
    });
  });

  describe("filters", () => {
    const logsOf = async (logs: unknown) => {
      const { text } = await ask({ fromBlock: 3, toBlock: 3, logs });
      const [line] = linesOf(text);
      return (line?.logs ?? []).map(({ logIndex }) => logIndex);
    };

    it("are AND within an item, OR within a list and between items", async () => {
      expect(await logsOf([{}])).to.deep.equal([0, 1]);
      expect(await logsOf([])).to.deep.equal([]);
      expect(await logsOf([{ address: [CONTRACT] }])).to.deep.equal([0]);
      expect(await logsOf([{ address: [CONTRACT.toUpperCase().replace("0X", "0x")] }])).to.deep.equal([0]);
      expect(await logsOf([{ address: [] }])).to.deep.equal([]);
      expect(await logsOf([{ topic0: [TOPIC_A, TOPIC_B] }])).to.deep.equal([0, 1]);
      expect(await logsOf([{ topic0: [TOPIC_B], address: [CONTRACT] }])).to.deep.equal([]);
      expect(await logsOf([{ topic0: [TOPIC_B] }, { address: [CONTRACT] }])).to.deep.equal([0, 1]);
      expect(await logsOf([{ topic1: [TOPIC_B] }])).to.deep.equal([0]);
      expect(await logsOf([{ topic2: [TOPIC_B] }])).to.deep.equal([]);
      expect(await logsOf([{ topic0: [TOPIC_A.toUpperCase().replace("0X", "0x")] }])).to.deep.equal([]);
    });

    it("add what belongs to a transaction once, and only where a flag asks for it", async () => {
      const lines = async (query: Record<string, unknown>) =>
        linesOf((await ask({ fromBlock: 3, toBlock: 3, ...query })).text)[0];
      const both = await lines({ logs: [{ transaction: true }] });
      expect(both?.transactions?.map((each) => each.transactionIndex)).to.deep.equal([1]);
      expect(Object.keys((await lines({ logs: [{}] })) ?? {})).to.deep.equal(["header", "logs"]);
      const others = await lines({ logs: [{ address: [OTHER], transactionLogs: true }] });
      expect(others?.logs?.map(({ logIndex }) => logIndex)).to.deep.equal([0, 1]);
      const { from } = plainBlock(3).transactions[1] as Record<string, unknown>;
      const sent = await lines({ logs: [], transactions: [{ from: [from], logs: true }] });
      expect([sent?.logs?.length, sent?.transactions?.length]).to.deep.equal([2, 1]);
      expect(await lines({ logs: [], transactions: [{ lastNonce: 2 }] })).to.have.all.keys("header");
    });

    it("give the selected fields and no other", async () => {
      const fields = { block: { number: true, hash: false }, log: { data: true } };
      const { text } = await ask({ fromBlock: 3, toBlock: 3, fields });
      const { data } = plainBlock(3).logs[0] as Record<string, unknown>;
      expect(text).to.equal(`{"header":{"number":3},"logs":[{"data":"${data}"}]}\n`);
    });

    it("give fields that a block lacks as null where they are told to", async () => {
      const fields = { block: { number: true, baseFeePerGas: true } };
      const { text } = await ask({ fromBlock: 4, toBlock: 4, fields }, { nullFields: true });
      expect(text).to.equal('{"header":{"number":4,"baseFeePerGas":null}}\n');
    });
  });

  describe("refusals", () => {
    const WRONG: Readonly<Record<string, Record<string, unknown>>> = {
      "unknown field `fromblock`": { fromblock: 1 },
      "unknown field `blockHash`": { fields: { log: { blockHash: true } } },
      "unknown field `topic4`": { logs: [{ topic4: [] }] },
      "unknown field `type`": { transactions: [{ type: [2] }] },
      "101 items: at most 100": { logs: Array.from({ length: 101 }, () => ({})) },
      "at most 262144 bytes": { logs: [{ address: Array.from({ length: 6_000 }, () => CONTRACT) }] },
      "toBlock 4 is below fromBlock 5": { fromBlock: 5, toBlock: 4 },
      "below the first block of the dataset, 2": { fromBlock: 1 },
      'query type "solana"': { type: "solana" },
      "expected an integer from 0, got -1": { toBlock: -1 },
      "expected a boolean": { includeAllBlocks: 1 },
    };

    for (const [message, query] of Object.entries(WRONG)) {
      it(`400: ${message}`, async () => {
        const json = await ask({ fromBlock: 5, ...query }, { startBlock: 2 });
        expect(json.status).to.equal(400);
        const { error } = JSON.parse(json.text) as { error: Record<string, string> };
        expect(error).to.include({ type: "invalid_request_error", code: "malformed_request" });
        expect(error.message).to.contain(message);
      });
    }

    it("are plain text where the portal is an older one", async () => {
      const { headers, text } = await ask({ fromBlock: 5, toBlock: 4 }, { errors: "text" });
      expect(headers["content-type"]).to.match(/^text\/plain/);
      expect(text).to.equal("toBlock 4 is below fromBlock 5");
    });

    it("404 another dataset and another path", async () => {
      portal = await startPlain();
      const other = portal.url.replace("base-mainnet", "base-sepolia");
      const { status, text } = await send(`${other}/head`);
      expect(status).to.equal(404);
      expect(JSON.parse(text).error.code).to.equal("unknown_dataset");
      expect((await send(`${portal.url}/heads`)).status).to.equal(404);
      expect((await send(`${portal.url}/stream`)).status).to.equal(404);
    });

    it("429 the 21st request in ten seconds, unless the limit is off", async () => {
      portal = await startPlain({ rateLimit: { requests: 20, windowMs: 10_000 }, retryAfter: true });
      for (let i = 0; i < 20; i++) expect((await send(`${portal.url}/head`)).status).to.equal(200);
      const { status, headers } = await send(`${portal.url}/head`);
      expect([status, headers["retry-after"]]).to.deep.equal([429, "1"]);
    });
  });

  describe("lookups", () => {
    it("answers heads, metadata, times and readiness", async () => {
      portal = await startPlain({ finalizedLag: 40, startBlock: 7 });
      const { url } = portal;
      const at = async (path: string) => JSON.parse((await send(`${url}/${path}`)).text);
      expect(await at("head")).to.deep.equal({ number: 100, hash: plainBlock(100).header.hash });
      expect(await at("finalized-head")).to.deep.equal({ number: 60, hash: plainBlock(60).header.hash });
      expect(await at("metadata")).to.deep.equal({
        dataset: "base-mainnet",
        aliases: ["base-mainnet"],
        real_time: true,
        start_block: 7,
      });
      expect(await at("timestamps/1700000100/block")).to.deep.equal({ block_number: 50 });
      expect(await at("timestamps/1700000099/block")).to.deep.equal({ block_number: 50 });
      expect((await send(`${url}/timestamps/1800000000/block`)).status).to.equal(204);
      expect((await send(`${url}/timestamps/now/block`)).status).to.equal(400);
      const root = url.slice(0, url.indexOf("/datasets"));
      expect((await send(`${root}/ready`)).status).to.equal(200);
      expect(JSON.parse((await send(`${root}/datasets`)).text)).to.have.length(1);
    });

    it("answers null while there is no block", async () => {
      portal = await startPlain({ blocks: { head: async () => undefined, async *read() {} } });
      expect((await send(`${portal.url}/head`)).text).to.equal("null");
      expect((await send(`${portal.url}/finalized-head`)).text).to.equal("null");
      expect((await ask({ fromBlock: 0, fields: ALL_FIELDS })).status).to.equal(204);
    });

    it("never lets the finalized head go back", async () => {
      portal = await startPlain();
      await send(`${portal.url}/finalized-head`);
      portal.serve(plainBlocks(95));
      expect(JSON.parse((await send(`${portal.url}/finalized-head`)).text).number).to.equal(100);
      expect(JSON.parse((await send(`${portal.url}/head`)).text).number).to.equal(95);
    });
  });
});
