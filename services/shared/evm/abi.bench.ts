import { decodeAbiParameters } from "viem";
import { readInt, readSigned, readUint } from "./abi.ts";
import type { Hex } from "./port.ts";
import { parseLogs } from "./source/parse.ts";

/**
 * `node --import tsx services/shared/evm/abi.bench.ts`: reads a PancakeSwap Swap (seven words) with these readers and
 * with viem, and checks an eth_getLogs response. abi.ts has the last figures.
 */
const SWAP: Hex = `0x${[
  "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffc2f7000",
  "0000000000000000000000000000000000000000000000000011c37937e08000",
  "0000000000000000000000000000000000003c6e1b1f9c1e2f3a4b5c6d7e8f90",
  "000000000000000000000000000000000000000000000000a1b2c3d4e5f60718",
  "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffcf2c8",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000001388",
].join("")}`;

/** Rounds a second of processor time: other work on the machine does not count. */
function measure(name: string, rounds: number, run: () => void): number {
  for (let i = 0; i < rounds / 10; i++) run();
  const startedAt = process.cpuUsage();
  for (let i = 0; i < rounds; i++) run();
  const { user, system } = process.cpuUsage(startedAt);
  const perSecond = (rounds / (user + system)) * 1e6;
  console.log(`${name}: ${Math.round(perSecond).toLocaleString("en")}/s`);
  return perSecond;
}

function readSwap() {
  return {
    amount0: readSigned(SWAP, 0),
    amount1: readSigned(SWAP, 1),
    sqrtPriceX96: readUint(SWAP, 2),
    liquidity: readUint(SWAP, 3),
    tick: readInt(SWAP, 4),
    protocolFee0: readUint(SWAP, 5),
    protocolFee1: readUint(SWAP, 6),
  };
}

const TYPES = ["int256", "int256", "uint160", "uint128", "int24", "uint128", "uint128"].map((type) => ({
  type,
}));
const ours = measure("seven words, ours", 1_000_000, readSwap);
const viem = measure("seven words, viem decodeAbiParameters", 50_000, () => decodeAbiParameters(TYPES, SWAP));
console.log(`ratio: ${(ours / viem).toFixed(1)}`);

const hash: Hex = `0x${"ab".repeat(32)}`;
const answer = Array.from({ length: 1000 }, (_, i) => ({
  address: `0x${"cd".repeat(20)}`,
  topics: [hash, hash, hash],
  data: SWAP,
  blockNumber: `0x${(1_000_000 + Math.floor(i / 10)).toString(16)}`,
  blockHash: hash,
  transactionHash: hash,
  transactionIndex: "0x1",
  logIndex: `0x${(i % 10).toString(16)}`,
  removed: false,
}));
const text = JSON.stringify(answer);
const range = { fromBlock: 1_000_000, toBlock: 1_000_200 };
const filter = { topics: [hash] };
const parse = measure("1,000 logs, JSON.parse alone", 200, () => JSON.parse(text));
const checked = measure(
  "1,000 logs, JSON.parse and checks",
  200,
  () => void parseLogs(JSON.parse(text), range, filter),
);
console.log(
  `logs a second, checked: ${Math.round(checked * 1000).toLocaleString("en")} (${(checked / parse).toFixed(2)} of parsing)`,
);
