import { expect } from "chai";
import { describe, it } from "mocha";
import { ReorgDetected } from "../../chain-errors.ts";
import { createFakeClock, createFakeNetwork, RpcFailure } from "../../rpc-client/testkit/fake-network.ts";
import { fakeHash, fakeLog, TOPIC } from "../testkit/fake-chain.ts";
import { createChain, failure, honest, isCheck, setUpSource, whenAsked } from "../testkit/source-setup.ts";
import { createEvmSource } from "./source.ts";

const FILTER = { topics: [TOPIC] };
const BLOCK = { fromBlock: 7, toBlock: 7, blockHash: fakeHash(7) };

describe("EvmSource.logs by a block's hash", () => {
  it("are one call", async () => {
    const { source, clock, network } = setUpSource((chain) => ({ "a.test": honest(chain) }));
    expect(await clock.run(source.logs(BLOCK, FILTER))).to.deep.equal([fakeLog(7)]);
    const asked = network.requests
      .flatMap(({ calls }) => calls)
      .filter(({ method }) => method !== "eth_chainId");
    expect(asked.map(({ method, params }) => [method, params])).to.deep.equal([
      ["eth_getLogs", [{ blockHash: fakeHash(7), topics: [[TOPIC]] }]],
    ]);
  });

  it("wait for an endpoint that has not seen the block yet", async () => {
    let unknown = 2;
    const { source, clock } = setUpSource((chain) => ({
      "a.test": whenAsked(chain, (calls) =>
        calls[0]?.method === "eth_getLogs" && unknown-- > 0
          ? { results: [new RpcFailure(-32000, "unknown block")] }
          : honest(chain)(calls),
      ),
    }));
    expect(await clock.run(source.logs(BLOCK, FILTER))).to.deep.equal([fakeLog(7)]);
  });

  it("throw ReorgDetected at once where the block was replaced", async () => {
    let asked = 0;
    const { source, clock } = setUpSource((chain) => ({
      "a.test": whenAsked(chain, (calls) => {
        if (calls[0]?.method !== "eth_getLogs") return honest(chain)(calls);
        asked += 1;
        return { results: [new RpcFailure(-32000, "unknown block")] };
      }),
    }));
    const replaced = { ...BLOCK, blockHash: fakeHash(7, 1) };
    expect(await failure(clock.run(source.logs(replaced, FILTER)))).to.be.instanceOf(ReorgDetected);
    expect(asked).to.equal(1);
  });
});

describe("HeadProbe", () => {
  function setUpProbe() {
    const chain = createChain();
    const clock = createFakeClock();
    const network = createFakeNetwork(clock, { "a.test": honest(chain), "b.test": honest(chain) });
    const source = createEvmSource({
      chainId: 8453,
      urls: ["https://a.test", "https://b.test"],
      options: { clock, fetch: network.fetch, socketClass: undefined },
    });
    return { chain, clock, network, source };
  }

  it("asks one endpoint for the next block, and takes its null for an answer", async () => {
    const { clock, network, source, chain } = setUpProbe();
    expect(await clock.run(source.probe.block(101, true))).to.equal(null);
    const asked = () =>
      network.requests
        .flatMap(({ calls }) => calls)
        .filter(({ method }) => method === "eth_getBlockByNumber");
    expect(asked()).to.have.length(1);
    chain.head = 101;
    const block = await clock.run(source.probe.block(101, true));
    expect([block?.number, block?.senders]).to.deep.equal([101, []]);
    expect((await clock.run(source.probe.block(101, false)))?.senders).to.equal(undefined);
    expect(await clock.run(source.probe.blockNumber())).to.equal(101);
  });

  it("raises the head: an endpoint that is behind does not lower it", async () => {
    const { clock, source, chain } = setUpProbe();
    chain.head = 101;
    await clock.run(source.probe.block(101, false));
    chain.head = 100;
    expect((await clock.run(source.head())).number).to.equal(101);
  });
});

describe("createEvmSource with a provider that counts calls a second", () => {
  it("narrows its batches until they pass, and widens them again", async () => {
    const sizes: number[] = [];
    let most = 10;
    const { source, clock } = setUpSource(
      (chain) => ({
        "a.test": (calls) => {
          if (!isCheck(calls)) sizes.push(calls.length);
          return calls.length > most ? { status: 429, body: "" } : honest(chain)(calls);
        },
      }),
      { batchSize: 64, maxParallel: 1 },
    );
    const numbers = Array.from({ length: 64 }, (_, i) => i);
    const headers = await clock.run(source.headers(numbers));
    expect(headers.map((header) => header?.number)).to.deep.equal(numbers);
    expect(sizes.slice(0, 4)).to.deep.equal([64, 32, 32, 8]);
    most = 100;
    for (let round = 0; round < 5; round++) {
      await clock.run(clock.sleep(31_000));
      await clock.run(source.headers(numbers));
    }
    expect(sizes.at(-1)).to.equal(64);
  });
});
