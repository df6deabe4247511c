import { readTopicAddress, readUint } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type {
  ClaimEvent,
  FeesEvent,
  LiquidityEvent,
  SwapEvent,
  SyncEvent,
  TransferEvent,
} from "../events.ts";

/** Swap(address indexed sender, address indexed to, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out) */
export const swap: Decoder<SwapEvent> = {
  topic: "0xb3e2773606abfd36b5bd91394b3a54d1398336c65005baf7bf7a05efeffaf75b",
  indexed: 2,
  words: 4,
  decode: ({ data }) => ({
    kind: "swap",
    amount0In: readUint(data, 0),
    amount1In: readUint(data, 1),
    amount0Out: readUint(data, 2),
    amount1Out: readUint(data, 3),
  }),
};

/** Fees(address indexed sender, uint256 amount0, uint256 amount1) */
export const fees: Decoder<FeesEvent> = {
  topic: "0x112c256902bf554b6ed882d2936687aaeb4225e8cd5b51303c90ca6cf43a8602",
  indexed: 1,
  words: 2,
  decode: ({ data }) => ({ kind: "fees", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};

/** Sync(uint256 reserve0, uint256 reserve1): Uniswap v2's has another topic, its reserves being uint112. */
const sync: Decoder<SyncEvent> = {
  topic: "0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a",
  indexed: 0,
  words: 2,
  decode: ({ data }) => ({ kind: "sync", reserve0: readUint(data, 0), reserve1: readUint(data, 1) }),
};

/** Mint(address indexed sender, uint256 amount0, uint256 amount1) */
const mint: Decoder<LiquidityEvent> = {
  topic: "0x4c209b5fc8ad50758f13e2e1088ba56a560dff690a1c6fef26394f4c03821c4f",
  indexed: 1,
  words: 2,
  decode: ({ data }) => ({ kind: "mint", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};

/** Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1) */
const burn: Decoder<LiquidityEvent> = {
  topic: "0x5d624aa9c148153ab3446c1b154f660ee7701e549fe9b62dab7171b1c80e6fa2",
  indexed: 2,
  words: 2,
  decode: ({ data }) => ({ kind: "burn", amount0: readUint(data, 0), amount1: readUint(data, 1) }),
};

/**
 * Claim(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1): the sender's fees, to
 * any recipient.
 */
const claim: Decoder<ClaimEvent> = {
  topic: "0x865ca08d59f5cb456e85cd2f7ef63664ea4f73327414e9d8152c4158b0e94645",
  indexed: 2,
  words: 2,
  decode: ({ topics }) => ({ kind: "claim", owner: readTopicAddress(topics[1]) }),
};

/** Transfer(address indexed from, address indexed to, uint256 value) of the pool as LP token: the topic of every ERC-20. */
export const transfer: Decoder<TransferEvent> = {
  topic: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  indexed: 2,
  words: 1,
  decode: ({ topics, data }) => ({
    kind: "transfer",
    from: readTopicAddress(topics[1]),
    to: readTopicAddress(topics[2]),
    amount: readUint(data, 0),
  }),
};

/** The events of a pool but the Transfers of its LP tokens. */
export const poolDecoders = [swap, fees, sync, mint, burn, claim] as const;
