import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { describe, it } from "mocha";
import { startRpcRecorder } from "./rpc-recorder.ts";
import { readTimes, STAGES, splitStages } from "./stages.ts";

const call = (method: string, [startedMs, endedMs]: [number, number], reply = "{}") => ({
  ...{ methods: [method], startedMs, endedMs, reply: Buffer.from(reply) },
});
const BLOCK_10 = '{"result":{"number":"0xa","hash":"0x1"}}';

describe("bench:latency: stages", () => {
  it("takes the answer that has the block as found, and the last answer before it was written as read", () => {
    const calls = [
      call("eth_getBlockByNumber", [1, 2], '{"result":null}'),
      call("eth_getBlockByNumber", [5, 9], BLOCK_10),
      call("eth_getLogs", [10, 20]),
      call("eth_call", [22, 30]),
      call("eth_getBlockByNumber", [50, 60], BLOCK_10),
    ];
    expect(readTimes(calls, { block: 10, writtenMs: 40 })).to.deep.equal({ foundMs: 9, readMs: 30 });
    expect(() => readTimes(calls, { block: 11, writtenMs: 40 })).to.throw("block 11");
  });

  it("splits all of the time: the stages follow each other from the node to the client", () => {
    const times = { minedMs: 0, foundMs: 5, readMs: 20, writtenMs: 30, toldMs: 41, heardMs: 50 };
    const stages = splitStages([times]);
    expect(stages.map(({ times: [ms] }) => ms)).to.deep.equal([5, 15, 10, 11, 9]);
    expect(STAGES.slice(1).map(([, from]) => from)).to.deep.equal(STAGES.slice(0, -1).map(([, , to]) => to));
    expect(
      splitStages([{ ...times, heardMs: 40 }]).at(-1)?.times,
      "heard before the bench was told",
    ).to.deep.equal([0]);
  });

  it("notes what goes between a program and its node, and changes nothing", async () => {
    const node = createServer((req, res) => {
      req.resume().on("end", () => res.end(BLOCK_10));
    });
    await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
    const recorder = await startRpcRecorder(`http://127.0.0.1:${(node.address() as AddressInfo).port}`);
    try {
      const ask = (body: string) =>
        fetch(recorder.url, { method: "POST", body }).then((reply) => reply.text());
      expect(await ask('{"method":"eth_getBlockByNumber","params":["0xa",true]}')).to.equal(BLOCK_10);
      await ask('[{"method":"eth_call"},{"method":"eth_call"}]');
      expect(recorder.calls.map(({ methods }) => methods)).to.deep.equal([
        ["eth_getBlockByNumber"],
        ["eth_call", "eth_call"],
      ]);
      const [first] = recorder.calls;
      expect(first?.startedMs).to.be.at.most(first?.endedMs ?? 0);
      recorder.forget();
      expect(recorder.calls).to.deep.equal([]);
    } finally {
      recorder.stop();
      node.close();
    }
  });
});
