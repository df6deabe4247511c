import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type FaultyRpcOptions, startFaultyRpc } from "./faulty-rpc.ts";

const HEAD = 100;

/** A node with one log in every block. */
function answer({ id, method, params }: { id: number; method: string; params: [unknown] }): unknown {
  if (method === "eth_blockNumber") return { id, result: `0x${HEAD.toString(16)}` };
  if (method === "eth_getBlockByNumber")
    return { id, result: { number: params[0] === "latest" ? `0x${HEAD.toString(16)}` : params[0] } };
  const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
  const count = Number(toBlock) - Number(fromBlock) + 1;
  return {
    id,
    result: Array.from({ length: count }, (_, i) => ({
      blockNumber: `0x${(Number(fromBlock) + i).toString(16)}`,
    })),
  };
}

const logsCall = (id: number, fromBlock: number, toBlock: number) => {
  const range = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: `0x${toBlock.toString(16)}` };
  return { jsonrpc: "2.0", id, method: "eth_getLogs", params: [range] };
};

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { code: number; message: string };
}

describe("startFaultyRpc", () => {
  let node: Server;
  let target: string;

  before(async () => {
    node = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      response.end(JSON.stringify((JSON.parse(text) as Parameters<typeof answer>[0][]).map(answer)));
    });
    await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
    target = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  });

  after(() => {
    node.closeAllConnections();
    node.close();
  });

  async function withProxy<T>(
    options: Omit<FaultyRpcOptions, "target">,
    use: (proxy: Awaited<ReturnType<typeof startFaultyRpc>>) => Promise<T>,
  ) {
    const proxy = await startFaultyRpc({ target, ...options });
    try {
      return await use(proxy);
    } finally {
      await proxy.close();
    }
  }

  const post = (url: string, body: unknown) => fetch(url, { method: "POST", body: JSON.stringify(body) });

  it("passes single requests and batches on unchanged while nothing is to fail", () =>
    withProxy({ faults: {}, seed: 1 }, async (proxy) => {
      const single = (await (await post(proxy.url, logsCall(7, 1, 3))).json()) as Reply;
      expect(single).to.deep.include({ id: 7 });
      expect(single.result).to.have.length(3);
      const batch = (await (await post(proxy.url, [logsCall(1, 1, 2), logsCall(2, 3, 3)])).json()) as Reply[];
      expect(batch.map((reply) => reply.id)).to.deep.equal([1, 2]);
      expect(Object.values(proxy.counts()).reduce((a, b) => a + b, 0)).to.equal(0);
      expect(proxy.requests()).to.equal(2);
    }));

  it("refuses ranges above the limit in the words of three providers, also inside a batch", () =>
    withProxy({ faults: {}, seed: 1, rangeLimit: 10 }, async (proxy) => {
      const body = [logsCall(1, 1, 11), logsCall(2, 1, 10), logsCall(3, 1, 50), logsCall(4, 5, 90)];
      const replies = (await (await post(proxy.url, body)).json()) as Reply[];
      expect(replies.map((reply) => reply.error?.code)).to.deep.equal([-32600, undefined, -32005, -32603]);
      expect(replies[0]?.error?.message).to.contain("[0x1, 0xa]");
      expect(proxy.counts().rangeTooLarge).to.equal(3);
    }));

  it("spoils answers one way at a time, and counts", async () => {
    await withProxy({ faults: { emptyLogs: 1 }, seed: 1 }, async (proxy) => {
      const { result } = (await (await post(proxy.url, logsCall(1, 1, 5))).json()) as Reply;
      expect(result).to.deep.equal([]);
      expect(proxy.counts().emptyLogs).to.equal(1);
    });
    await withProxy({ faults: { duplicateLogs: 1 }, seed: 1 }, async (proxy) => {
      const { result } = (await (await post(proxy.url, logsCall(1, 1, 5))).json()) as Reply;
      expect(result).to.have.length(6);
    });
    await withProxy({ faults: { headBack: 1 }, seed: 1 }, async (proxy) => {
      const head = { jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] };
      const replies = (await (await post(proxy.url, [head, logsCall(2, 90, 100)])).json()) as Reply[];
      const seen = Number(replies[0]?.result);
      expect(seen).to.be.within(HEAD - 5, HEAD - 1);
      expect(replies[1]?.result).to.have.length(seen - 90 + 1);
    });
    await withProxy({ faults: { rateLimit: 1 }, seed: 1, retryAfterS: 3 }, async (proxy) => {
      const response = await post(proxy.url, logsCall(1, 1, 5));
      expect([response.status, response.headers.get("retry-after")]).to.deep.equal([429, "3"]);
    });
    await withProxy({ faults: { badGateway: 1 }, seed: 1 }, async (proxy) => {
      expect((await post(proxy.url, logsCall(1, 1, 5))).status).to.equal(502);
    });
    await withProxy({ faults: { truncated: 1 }, seed: 1 }, async (proxy) => {
      const text = await (await post(proxy.url, logsCall(1, 1, 5))).text();
      expect(() => JSON.parse(text)).to.throw(SyntaxError);
    });
    await withProxy({ faults: { reset: 1 }, seed: 1 }, async (proxy) => {
      const failed = await post(proxy.url, logsCall(1, 1, 5)).then(
        () => false,
        () => true,
      );
      expect(failed).to.equal(true);
    });
    await withProxy({ faults: { hang: 1 }, seed: 1 }, async (proxy) => {
      const request = fetch(proxy.url, { method: "POST", body: "{}", signal: AbortSignal.timeout(100) });
      const failed = await request.then(
        () => false,
        () => true,
      );
      expect([failed, proxy.counts().hang]).to.deep.equal([true, 1]);
    });
  });

  it("repeats its plan with the same seed and can be calmed", async () => {
    const run = () =>
      withProxy({ faults: { badGateway: 0.3, rateLimit: 0.3 }, seed: 42 }, async (proxy) => {
        const statuses: number[] = [];
        for (let i = 0; i < 20; i++) statuses.push((await post(proxy.url, logsCall(1, 1, 2))).status);
        proxy.setFaults({});
        expect((await post(proxy.url, logsCall(1, 1, 2))).status).to.equal(200);
        return statuses;
      });
    const first = await run();
    expect(new Set(first)).to.deep.equal(new Set([200, 429, 502]));
    expect(await run()).to.deep.equal(first);
  });
});
