import { expect } from "chai";
import { describe, it } from "mocha";
import { MULTICALL3 } from "../../../shared/evm/multicall/multicall.ts";
import { BlockUnavailable, type EthCall, type Hex } from "../../../shared/evm/port.ts";
import { withMulticall } from "../../test/kit/fake-multicall.ts";
import { createFakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import { address, word } from "../../test/kit/rows.ts";
import { BlockStates } from "./block-states.ts";

const HEAD = 500;
const headers = headersUpTo(HEAD);
const hashOf = (block: number) => headers[block]?.hash;
const BAD = address(0xbad);

/** Every contract returns its number plus the block; BAD reverts. */
const run = withMulticall(({ to, block }) => (to === BAD ? null : word(Number(to) + block)));

function setUp(call: (call: EthCall) => Hex | null = run) {
  const source = createFakeSource({ headers, call });
  const states = new BlockStates({ source, address: MULTICALL3 });
  return { source, states: states.at({ head: HEAD, hashOf }) };
}

const callTo = (to: Hex, block = HEAD): EthCall => ({ to, data: "0x70a08231", block });
const wordsOf = (numbers: readonly number[]) => numbers.map((n) => word(n));

describe("BlockStates", () => {
  it("reads the state of a block in one eth_call by its hash, whoever asks", async () => {
    const { source, states } = setUp();
    const [some, others] = await Promise.all([
      states.call([callTo(address(1)), callTo(address(2))]),
      states.call([callTo(address(2)), callTo(address(3))]),
    ]);
    expect(some).to.deep.equal(wordsOf([1 + HEAD, 2 + HEAD]));
    expect(others).to.deep.equal(wordsOf([2 + HEAD, 3 + HEAD]));
    expect(source.calls).to.have.length(1);
    const [call] = source.calls[0] as [EthCall];
    expect([source.calls[0]?.length, call.to, call.blockHash]).to.deep.equal([1, MULTICALL3, hashOf(HEAD)]);
  });

  it("reads each block by itself, in the order of the calls; old ones and those without a hash by their number", async () => {
    const source = createFakeSource({ headers, call: run });
    const states = new BlockStates({ source, address: MULTICALL3 }).at({
      head: HEAD,
      hashOf: (block) => (block === HEAD - 1 ? undefined : hashOf(block)),
    });
    const blocks = [HEAD, HEAD - 1, HEAD - 2, 100, HEAD, HEAD - 2];
    const found = await states.call(blocks.map((block, i) => callTo(address(i + 11), block)));
    expect(found).to.deep.equal(wordsOf(blocks.map((block, i) => i + 11 + block)));
    const asked = source.calls.flat();
    expect(asked.filter(({ to }) => to === MULTICALL3).map(({ block }) => block)).to.have.members([
      HEAD,
      HEAD - 2,
    ]);
    expect(asked.filter(({ to }) => to !== MULTICALL3).map(({ block }) => block)).to.have.members([
      HEAD - 1,
      100,
    ]);
  });

  it("asks all endpoints once of a call that reverts, and takes it for one from then on", async () => {
    const { source, states } = setUp();
    const ask = async (block: number) => {
      source.calls.length = 0;
      expect(await states.call([callTo(address(1), block), callTo(BAD, block)])).to.deep.equal([
        word(1 + block),
        null,
      ]);
      return source.calls.flat().filter(({ to, confirmRevert }) => to === BAD && confirmRevert === true)
        .length;
    };
    expect(await ask(HEAD - 1)).to.equal(1);
    expect(await ask(HEAD)).to.equal(0);
  });

  it("believes another endpoint that returns data where one reverts", async () => {
    const { states } = setUp((call) => (call.confirmRevert === true ? word(7) : run(call)));
    expect(await states.call([callTo(address(1)), callTo(BAD)])).to.deep.equal([word(1 + HEAD), word(7)]);
  });

  it("reads by number where no endpoint has the state by the hash", async () => {
    const { source, states } = setUp((call) => {
      if (call.blockHash !== undefined) throw new BlockUnavailable("pruned");
      return run(call);
    });
    // The wait for endpoints that are behind takes seconds: the block is replaced meanwhile, or still there.
    expect(await states.call([callTo(address(1))])).to.deep.equal([word(1 + HEAD)]);
    expect(source.headerRequests.length).to.be.greaterThan(0);
  });
});
