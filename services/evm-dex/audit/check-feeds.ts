import { readSigned, readUint } from "../../shared/evm/abi.ts";
import type { EthCall, Hex } from "../../shared/evm/port.ts";
import { type FeedAnswerRow, feedAnswers } from "../store/collections.ts";
import { isClose } from "./compare-rows.ts";
import { compareNullable, type Finding, requireThat } from "./finding.ts";
import { addressOf, intOf } from "./return-data.ts";
import { type ChainScope, sampleRows } from "./scope.ts";

/** AggregatorV3Interface: decimals(), latestRoundData() → roundId, answer, startedAt, updatedAt, answeredInRound. */
const DECIMALS: Hex = "0x313ce567";
const LATEST_ROUND_DATA: Hex = "0xfeaf968c";
/** Of Chainlink's proxies: aggregator(); AnswerUpdated(int256,uint256,uint256) of aggregators. */
const AGGREGATOR: Hex = "0x245a7bfc";
const ANSWER_UPDATED: Hex = "0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f";
const ROUND_LENGTH = 2 + 5 * 64;

/** What the stablecoins' feeds said, against what their proxies answer at the same block, and at the head. */
export async function checkFeeds(scope: ChainScope): Promise<Finding[]> {
  const { chainId, checkpoint, deployments, store } = scope;
  const feeds = deployments?.feeds ?? [];
  const findings: Finding[] = [];
  const rows = await sampleRows(scope, feedAnswers, { filter: { chainId }, by: "blockNumber" });
  for (const row of rows) {
    const place = { pool: "", at: `feed of ${row.token}, block ${row.blockNumber}` };
    const { blockNumber, fromBlock } = checkpoint;
    findings.push(
      requireThat(place, {
        field: "feed_answers.token",
        holds: deployments === undefined || feeds.some(({ token }) => token === row.token),
        stored: row.token,
        rule: "a stablecoin with a feed",
      }),
      requireThat(place, {
        field: "feed_answers.blockNumber",
        holds: row.blockNumber >= fromBlock - 1 && row.blockNumber <= blockNumber,
        stored: row.blockNumber,
        rule: `from ${fromBlock - 1} to ${blockNumber}`,
      }),
      ...(await compareAnswer(scope, row, row.blockNumber)),
      ...(await findLog(scope, row)),
    );
  }
  for (const { token } of feeds) {
    const [last] = await store.find(feedAnswers, {
      filter: { chainId, token },
      order: [{ field: "blockNumber", direction: "desc" }],
      limit: 1,
    });
    if (last !== undefined) findings.push(...(await compareAnswer(scope, last, checkpoint.blockNumber)));
  }
  return findings;
}

/** The block of an answer must have its event; what was said before the index has the block before it. */
async function findLog(
  { checkpoint, deployments, rpc }: ChainScope,
  { blockNumber, token }: FeedAnswerRow,
): Promise<Finding[]> {
  const proxy = deployments?.feeds?.find((feed) => feed.token === token)?.proxy;
  if (rpc === undefined || proxy === undefined || blockNumber === checkpoint.fromBlock - 1) return [];
  const [aggregator] = await rpc.call([{ to: proxy, data: AGGREGATOR, block: blockNumber }]);
  const logs = await rpc.logs({
    addresses: [proxy, addressOf(aggregator) ?? proxy],
    topics: [ANSWER_UPDATED],
    fromBlock: blockNumber,
    toBlock: blockNumber,
  });
  return [
    requireThat(
      { pool: "", at: `feed of ${token}, block ${blockNumber}` },
      {
        field: "feed_answers.blockNumber",
        holds: logs.length > 0,
        stored: blockNumber,
        rule: "a block with an answer",
      },
    ),
  ];
}

/** A stored answer against the one that the feed's proxy gives at a block. */
async function compareAnswer(
  { deployments, rpc }: ChainScope,
  row: FeedAnswerRow,
  block: number,
): Promise<Finding[]> {
  const proxy = deployments?.feeds?.find(({ token }) => token === row.token)?.proxy;
  if (rpc === undefined || proxy === undefined) return [];
  const calls = [DECIMALS, LATEST_ROUND_DATA].map((data): EthCall => ({ to: proxy as Hex, data, block }));
  const [decimals, round] = await rpc.call(calls);
  const place = { pool: "", at: `feed of ${row.token}, block ${block}` };
  const isRead = typeof round === "string" && round.length >= ROUND_LENGTH;
  const usd = isRead ? Number(readSigned(round, 1)) / 10 ** (intOf(decimals) ?? 0) : undefined;
  const updatedAt = isRead ? Number(readUint(round, 3)) : undefined;
  return [
    compareNullable(place, {
      field: "feed_answers.usd",
      stored: row.usd,
      expected: usd !== undefined && isClose(row.usd, usd) ? row.usd : usd,
    }),
    compareNullable(place, { field: "feed_answers.updatedAt", stored: row.updatedAt, expected: updatedAt }),
  ];
}
