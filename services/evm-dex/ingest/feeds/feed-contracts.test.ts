import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  encodeAbiParameters,
  encodeEventTopics,
  numberToHex,
  toEventSelector,
  toFunctionSelector,
} from "viem";
import { feedAggregator } from "../../../../deploy/devnet/contracts/feed/artifacts.ts";
import type { EthCall, Hex, RawLog } from "../../../shared/evm/port.ts";
import { address, hash } from "../../test/kit/rows.ts";
import { ANSWER_UPDATED, FeedContracts } from "./feed-contracts.ts";

const TOKEN = address(0x10);
const PROXY = address(0xfeed);
const [FIRST, SECOND] = [address(0xa1), address(0xa2)];

const uint = (value: bigint | number) => encodeAbiParameters([{ type: "uint256" }], [BigInt(value)]);
const addressWord = (value: Hex) => encodeAbiParameters([{ type: "address" }], [value]);

/** A proxy in its second phase, with 8 decimals. */
const PROXY_ANSWERS: Record<string, Hex> = {
  [toFunctionSelector("decimals()")]: uint(8),
  [toFunctionSelector("aggregator()")]: addressWord(SECOND),
  [toFunctionSelector("phaseId()")]: uint(2),
  [toFunctionSelector("phaseAggregators(uint16)") + uint(1).slice(2)]: addressWord(FIRST),
  [toFunctionSelector("phaseAggregators(uint16)") + uint(2).slice(2)]: addressWord(SECOND),
};

/** A chain that has these responses of the proxy and nothing else. */
function chainOf(answers: Readonly<Record<string, Hex>> = PROXY_ANSWERS) {
  return {
    call: async (calls: readonly EthCall[]) =>
      calls.map(({ to, data }) => (to === PROXY ? (answers[data] ?? null) : null)),
  };
}

function logOf(
  emitter: Hex,
  { current, updatedAt = 1_700_000_000n }: { current: bigint; updatedAt?: bigint },
): RawLog {
  const topics = encodeEventTopics({
    abi: feedAggregator.abi,
    eventName: "AnswerUpdated",
    args: { current, roundId: 7n },
  }) as Hex[];
  return {
    address: emitter,
    topics,
    data: uint(updatedAt),
    blockNumber: 50,
    blockHash: hash(50),
    transactionHash: hash(1),
    transactionIndex: 0,
    logIndex: 3,
  };
}

describe("FeedContracts", () => {
  const load = async (answers?: Readonly<Record<string, Hex>>) => {
    const feeds = new FeedContracts([{ token: TOKEN, proxy: PROXY }]);
    const silent = await feeds.load(chainOf(answers), 100);
    return { feeds, silent };
  };

  it("knows the topic of AnswerUpdated", () => {
    expect(ANSWER_UPDATED).to.equal(toEventSelector("AnswerUpdated(int256,uint256,uint256)"));
  });

  it("decodes the answers of every phase's aggregator, and of no other contract", async () => {
    const { feeds, silent } = await load();
    expect(silent).to.deep.equal([]);
    for (const emitter of [FIRST, SECOND, PROXY]) {
      expect(feeds.answerOf(logOf(emitter, { current: 91_000_000n }))).to.deep.equal({
        token: TOKEN,
        blockNumber: 50,
        usd: 0.91,
        updatedAt: 1_700_000_000,
      });
    }
    expect(feeds.answerOf(logOf(address(0xa3), { current: 91_000_000n }))).to.equal(undefined);
  });

  it("decodes any int256, negative ones too", async () => {
    const { feeds } = await load();
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n }), (current) => {
        expect(feeds.answerOf(logOf(FIRST, { current }))?.usd).to.equal(Number(current) / 1e8);
      }),
    );
  });

  it("takes no log of another form for an answer", async () => {
    const { feeds } = await load();
    const log = logOf(FIRST, { current: 1n });
    const others: Partial<RawLog>[] = [
      { topics: [hash(1), ...log.topics.slice(1)] },
      { topics: log.topics.slice(0, 2) },
      { data: "0x" },
      { data: `${log.data}${"00".repeat(32)}` },
    ];
    for (const other of others) expect(feeds.answerOf({ ...log, ...other })).to.equal(undefined);
  });

  it("reads an aggregator without a proxy, and names what is no feed", async () => {
    const alone = await load({ [toFunctionSelector("decimals()")]: uint(18) });
    expect(alone.silent).to.deep.equal([]);
    expect(alone.feeds.answerOf(logOf(PROXY, { current: 10n ** 18n }))?.usd).to.equal(1);
    for (const answers of [{}, { [toFunctionSelector("decimals()")]: uint(2n ** 200n) }]) {
      const none = await load(answers);
      expect(none.silent).to.deep.equal([{ token: TOKEN, proxy: PROXY }]);
      expect(none.feeds.answerOf(logOf(PROXY, { current: 1n }))).to.equal(undefined);
    }
  });

  it("reads latestRoundData, and nothing where the call failed", async () => {
    const { feeds } = await load();
    expect(feeds.latestCalls).to.deep.equal([{ to: PROXY, data: toFunctionSelector("latestRoundData()") }]);
    const round = encodeAbiParameters(
      [{ type: "uint80" }, { type: "int256" }, { type: "uint256" }, { type: "uint256" }, { type: "uint80" }],
      [9n, 99_990_000n, 1n, 1_700_000_123n, 9n],
    );
    const expected = { token: TOKEN, blockNumber: 99, usd: 0.9999, updatedAt: 1_700_000_123 };
    expect(feeds.readLatest([round], 99)).to.deep.equal([expected]);
    for (const failed of [null, "0x", numberToHex(1, { size: 32 })] as const)
      expect(feeds.readLatest([failed], 99)).to.deep.equal([]);
  });
});
