import { readInt, readSigned, readTopicInt, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type {
  CollectEvent,
  FlashEvent,
  InitializeEvent,
  LiquidityEvent,
  PancakeEvent,
  PancakeSwapEvent,
  SetFeeProtocolEvent,
  SlipstreamEvent,
  SwapEvent,
  V3Event,
} from "../events.ts";

/** Initialize(uint160 sqrtPriceX96, int24 tick) */
const initialize: Decoder<InitializeEvent> = {
  topic: "0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95",
  indexed: 0,
  words: 2,
  decode: ({ data }) => ({ kind: "initialize", sqrtPriceX96: readUint(data, 0), tick: readInt(data, 1) }),
};

/** Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1) */
const mint: Decoder<LiquidityEvent> = {
  topic: "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde",
  indexed: 3,
  words: 4,
  decode: ({ topics, data }) => ({
    kind: "mint",
    tickLower: readTopicInt(topics[2]),
    tickUpper: readTopicInt(topics[3]),
    liquidity: readUint(data, 1),
    amount0: readUint(data, 2),
    amount1: readUint(data, 3),
  }),
};

/** Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1) */
const burn: Decoder<LiquidityEvent> = {
  topic: "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c",
  indexed: 3,
  words: 3,
  decode: ({ topics, data }) => ({
    kind: "burn",
    tickLower: readTopicInt(topics[2]),
    tickUpper: readTopicInt(topics[3]),
    liquidity: readUint(data, 0),
    amount0: readUint(data, 1),
    amount1: readUint(data, 2),
  }),
};

/** Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1) */
const collect: Decoder<CollectEvent> = {
  topic: "0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0",
  indexed: 3,
  words: 3,
  decode: ({ data }) => ({ kind: "collect", amount0: readUint(data, 1), amount1: readUint(data, 2) }),
};

/** Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1) */
const flash: Decoder<FlashEvent> = {
  topic: "0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633",
  indexed: 2,
  words: 4,
  decode: ({ data }) => ({ kind: "flash", paid0: readUint(data, 2), paid1: readUint(data, 3) }),
};

/** Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick) */
const swap: Decoder<SwapEvent> = {
  topic: "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67",
  indexed: 2,
  words: 5,
  decode: ({ data }) => ({
    kind: "swap",
    amount0: readSigned(data, 0),
    amount1: readSigned(data, 1),
    sqrtPriceX96: readUint(data, 2),
    liquidity: readUint(data, 3),
    tick: readInt(data, 4),
  }),
};

/** Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1) */
const pancakeSwap: Decoder<PancakeSwapEvent> = {
  topic: "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83",
  indexed: 2,
  words: 7,
  decode(log) {
    const { kind, amount0, amount1, sqrtPriceX96, liquidity, tick } = swap.decode(log);
    const protocolFees = { amount0: readUint(log.data, 5), amount1: readUint(log.data, 6) };
    // No spread: docs/decisions/0084.
    return { kind, amount0, amount1, sqrtPriceX96, liquidity, tick, protocolFees };
  },
};

/** CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1) */
const collectProtocol: Decoder<CollectEvent> = {
  topic: "0x596b573906218d3411850b26a6b437d6c4522fdb43d2d2386263f86d50b8b151",
  indexed: 2,
  words: 2,
  decode: ({ data }) => ({
    kind: "collect_protocol",
    amount0: readUint(data, 0),
    amount1: readUint(data, 1),
  }),
};

/** SetFeeProtocol(uint8 feeProtocol0Old, uint8 feeProtocol1Old, uint8 feeProtocol0New, uint8 feeProtocol1New) */
const setFeeProtocol: Decoder<SetFeeProtocolEvent> = {
  topic: "0x973d8d92bb299f4af6ce49b52a8adb85ae46b9f214c4c4fc06ac77401237b133",
  indexed: 0,
  words: 4,
  decode: ({ data }) => ({
    kind: "set_fee_protocol",
    feeProtocol: (readInt(data, 3) << 4) | readInt(data, 2),
  }),
};

/** CollectFees(address indexed recipient, uint128 amount0, uint128 amount1): Slipstream's gauge takes its fees. */
const collectFees: Decoder<CollectEvent> = {
  topic: "0x205860e66845f2bbc0966bfab80db9bf93fca93862ea2b9fcf6945748352b4a3",
  indexed: 1,
  words: 2,
  decode: ({ data }) => ({ kind: "collect_fees", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};

const common = [initialize, mint, burn, collect, flash] as const;

/** All events of a Uniswap v3 pool that change its balances or its state. */
export const uniswapDecoders: readonly Decoder<V3Event>[] = [
  ...common,
  swap,
  collectProtocol,
  setFeeProtocol,
];

/** The same of a PancakeSwap v3 pool. */
export const pancakeDecoders: readonly Decoder<PancakeEvent>[] = [...common, pancakeSwap, collectProtocol];

/** The same of a Slipstream pool. */
export const slipstreamDecoders: readonly Decoder<SlipstreamEvent>[] = [...common, swap, collectFees];
