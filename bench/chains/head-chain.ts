import { type AbiEvent, encodeAbiParameters, encodeEventTopics, pad, parseAbi } from "viem";
import { createRandom } from "../../deploy/devnet/random.ts";
import { uniswapAbi, uniswapFactoryAbi } from "../../services/evm-dex/protocols/v3/testkit/encode-event.ts";
import type { Emitted } from "../../services/evm-dex/test/kit/log-chain.ts";
import { aerodromeFactory, created, emit, minted } from "../../services/evm-dex/test/v2/aerodrome-logs.ts";
import { computeLogsBloom } from "../../services/shared/evm/bloom.ts";
import type { Hex } from "../../services/shared/evm/port.ts";

/** A block of a size and shape as Base has them; docs/rpc-costs.md says what was measured there. */
export interface HeadShape {
  /** Pools with a swap in every block, a fifth of them of Aerodrome v2. */
  readonly touchedPools: number;
  /** All pools. */
  readonly pools: number;
  readonly transactions: number;
  /** Logs that concern nobody here, half of them Transfers of tokens. */
  readonly otherLogs: number;
  /** Morpho markets, and how many of them change in a block; none do in every fifth. */
  readonly markets: number;
  readonly touchedMarkets: number;
  readonly blockSeconds: number;
}

export const BASE_SHAPE: HeadShape = {
  touchedPools: 50,
  pools: 500,
  transactions: 300,
  otherLogs: 1_050,
  markets: 60,
  touchedMarkets: 3,
  blockSeconds: 2,
};

export const UNISWAP_FACTORY = addressOf(0xfac3);
export const STABLECOIN = addressOf(0x5c);
export const MORPHO = addressOf(0xb1);
export const ADAPTIVE_IRM = addressOf(0xb2);
const [LENDING_TOKENS, TOKENS, POOLS, TRADERS] = [0xd000, 0xe000, 0x10_0000, 0x70_0000] as const;
/** Blocks that create pools and markets, before the head moves. */
export const PAST_BLOCKS = 12;
const Q96 = 2n ** 96n;
/** Bytes of a transaction's input: a transaction of Base has some 1,300 bytes of JSON. */
const INPUT_BYTES = 400;

const morphoAbi = parseAbi([
  "event CreateMarket(bytes32 indexed id, (address loanToken, address collateralToken, address oracle, address irm, uint256 lltv) marketParams)",
  "event AccrueInterest(bytes32 indexed id, uint256 prevBorrowRate, uint256 interest, uint256 feeShares)",
]);

export interface ChainBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly timestamp: number;
  /** As nodes send them. */
  readonly header: Record<string, unknown>;
  readonly transactions: readonly Record<string, unknown>[];
  readonly logs: readonly (Emitted & Record<string, unknown>)[];
}

/** The blocks of a made up chain: each follows from its number alone. */
export class HeadChain {
  readonly shape: HeadShape;
  readonly #startS: number;
  readonly #blocks = new Map<number, ChainBlock>();

  /** @param startS Unix seconds of block 0 */
  constructor(shape: HeadShape, startS: number) {
    this.shape = shape;
    this.#startS = startS;
  }

  block(number: number): ChainBlock {
    let block = this.#blocks.get(number);
    if (block === undefined) {
      block = this.#make(number);
      this.#blocks.set(number, block);
      this.#blocks.delete(number - 300);
    }
    return block;
  }

  #make(number: number): ChainBlock {
    const { shape } = this;
    const timestamp = this.#startS + shape.blockSeconds * number;
    const hash = hashOf(number);
    const emitted = number <= PAST_BLOCKS ? this.#past(number) : this.#present(number);
    const each = Math.max(1, Math.ceil(emitted.length / shape.transactions));
    const logs = emitted.map((log, i) => ({
      ...log,
      blockNumber: quantity(number),
      blockHash: hash,
      blockTimestamp: quantity(timestamp),
      transactionHash: hashOf(number * 1_000 + Math.floor(i / each), 7),
      transactionIndex: quantity(Math.floor(i / each)),
      logIndex: quantity(i),
      removed: false,
    }));
    const count = number === 0 ? 0 : shape.transactions;
    const transactions = Array.from({ length: count }, (_, i) => transactionOf({ number, hash, index: i }));
    return {
      number,
      hash,
      timestamp,
      logs,
      transactions,
      header: {
        number: quantity(number),
        hash,
        parentHash: number === 0 ? `0x${"00".repeat(32)}` : hashOf(number - 1),
        timestamp: quantity(timestamp),
        logsBloom: computeLogsBloom(emitted),
        gasLimit: quantity(240_000_000),
        gasUsed: quantity(60_000_000),
        miner: addressOf(0x4200),
        stateRoot: hashOf(number, 2),
        receiptsRoot: hashOf(number, 3),
        transactionsRoot: hashOf(number, 4),
        extraData: "0x",
        size: quantity(120_000),
      },
    };
  }

  /** The pools and markets, some in each block of the past. */
  #past(number: number): Emitted[] {
    const { pools, markets } = this.shape;
    const isOf = (i: number) => 1 + (i % PAST_BLOCKS) === number;
    const ofPools = range(pools)
      .filter(isOf)
      .flatMap((i) => (isV2(i) ? createV2(i) : createV3(i)));
    const ofMarkets = range(markets)
      .filter(isOf)
      .map((i) => log(MORPHO, morphoAbi[0], { id: marketId(i), marketParams: marketOf(i) }));
    return [...ofPools, ...ofMarkets];
  }

  /** Swaps of other pools in every block, and what else happens on a chain. */
  #present(number: number): Emitted[] {
    const { touchedPools, pools, markets, touchedMarkets } = this.shape;
    const random = createRandom(number);
    const swaps = range(touchedPools).flatMap((i) => {
      const pool = (number * touchedPools + i) % pools;
      return isV2(pool) ? swapV2(pool) : [swapV3(pool, random.below(1_000))];
    });
    const accrued = range(number % 5 === 0 ? 0 : touchedMarkets).map((i) =>
      log(MORPHO, morphoAbi[1], {
        id: marketId((number * touchedMarkets + i) % markets),
        prevBorrowRate: 1n,
        interest: 1n,
        feeShares: 0n,
      }),
    );
    return [...swaps, ...accrued, ...range(this.shape.otherLogs).map((i) => otherLog(number, i))];
  }
}

export function marketId(i: number): Hex {
  return hashOf(i, 9);
}

/** Parameters of a Morpho market. */
export function marketOf(i: number) {
  return {
    loanToken: addressOf(LENDING_TOKENS + (i % 10)),
    collateralToken: addressOf(LENDING_TOKENS + 10 + (i % 10)),
    oracle: addressOf(0xb3),
    irm: ADAPTIVE_IRM,
    lltv: 860_000_000_000_000_000n,
  };
}

export function addressOf(n: number): Hex {
  return pad(`0x${n.toString(16)}`, { size: 20 });
}

/** Random looking, as hashes are. */
function hashOf(number: number, kind = 1): Hex {
  let text = "";
  let state = (number * 2_654_435_761 + kind * 40_503) >>> 0;
  for (let i = 0; i < 8; i++) {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + i * 0x9e37_79b9) >>> 0;
    text += state.toString(16).padStart(8, "0");
  }
  return `0x${text}`;
}

export function quantity(value: number): Hex {
  return `0x${value.toString(16)}`;
}

const range = (length: number) => Array.from({ length }, (_, i) => i);
const isV2 = (pool: number) => pool % 5 === 0;
const poolAddress = (pool: number) => addressOf(POOLS + pool);

function log(address: Hex, event: AbiEvent, args: Record<string, unknown>): Emitted {
  const topics = encodeEventTopics({ abi: [event], args } as never) as Hex[];
  const inData = event.inputs.filter(({ indexed }) => indexed !== true);
  const data = encodeAbiParameters(
    inData,
    inData.map(({ name }) => args[name as string]),
  );
  return { address, topics, data };
}

const eventOf = (name: string) => uniswapAbi.find((each) => each.name === name) as AbiEvent;

function createV3(pool: number): Emitted[] {
  const address = poolAddress(pool);
  const tokens = { token0: STABLECOIN, token1: addressOf(TOKENS + pool) };
  return [
    log(UNISWAP_FACTORY, uniswapFactoryAbi[0], { ...tokens, fee: 500, tickSpacing: 10, pool: address }),
    log(address, eventOf("Initialize"), { sqrtPriceX96: Q96, tick: 0 }),
    swapV3(pool, 0),
  ];
}

function swapV3(pool: number, change: number): Emitted {
  return log(poolAddress(pool), eventOf("Swap"), {
    sender: addressOf(TRADERS),
    recipient: addressOf(TRADERS + change),
    amount0: 1_000_000n + BigInt(change),
    amount1: -1_000_000n,
    sqrtPriceX96: Q96 + BigInt(change),
    liquidity: 10n ** 18n,
    tick: 0,
  });
}

function createV2(pool: number): Emitted[] {
  return [created(poolAddress(pool)), ...minted(poolAddress(pool), addressOf(TRADERS))];
}

function swapV2(pool: number): Emitted[] {
  const [address, sender] = [poolAddress(pool), addressOf(TRADERS)];
  const amounts = { amount0In: 100n, amount1In: 0n, amount0Out: 0n, amount1Out: 99n };
  return [
    emit(address, "Fees", { sender, amount0: 1n, amount1: 0n }),
    emit(address, "Sync", { reserve0: 5_100n, reserve1: 4_901n }),
    emit(address, "Swap", { sender, to: sender, ...amounts }),
  ];
}

const TRANSFER: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

function otherLog(number: number, i: number): Emitted {
  const address = hashOf(number * 10_000 + i, 5).slice(0, 42) as Hex;
  const wallet = (kind: number) => pad(hashOf(number * 10_000 + i, kind).slice(0, 42) as Hex);
  const topics = i % 2 === 0 ? [TRANSFER, wallet(6), wallet(8)] : [hashOf(i, 10), wallet(6)];
  return { address, topics, data: pad(quantity(1_000 + i)) };
}

function transactionOf({ number, hash, index }: { number: number; hash: Hex; index: number }) {
  return {
    blockHash: hash,
    blockNumber: quantity(number),
    transactionIndex: quantity(index),
    hash: hashOf(number * 1_000 + index, 7),
    from: addressOf(TRADERS + (index % 200)),
    to: poolAddress(index),
    nonce: quantity(number),
    value: "0x0",
    gas: quantity(300_000),
    gasPrice: quantity(1_000_000),
    maxFeePerGas: quantity(2_000_000),
    maxPriorityFeePerGas: quantity(1_000),
    chainId: quantity(8_453),
    type: "0x2",
    accessList: [],
    v: "0x1",
    r: hashOf(index, 11),
    s: hashOf(index, 12),
    input: `0x${hashOf(index, 13)
      .slice(2)
      .repeat(INPUT_BYTES / 32)}`,
  };
}

/** What the ingests read from DEPLOYMENTS_FILE to index the chain. */
export function headDeployments(chainId: number) {
  const name = "Base (made up)";
  const uniswap = { address: UNISWAP_FACTORY, dexName: "Uniswap V3", family: "dexb", kind: "uniswap-v3" };
  const factories = [{ ...uniswap, fromBlock: 0 }, aerodromeFactory];
  const morpho = { morpho: MORPHO, fromBlock: 0, adaptiveCurveIrms: [ADAPTIVE_IRM], vaultFactories: [] };
  return {
    evmDex: { chains: [{ chainId, name, stablecoins: [STABLECOIN], factories }] },
    lending: { chains: [{ chainId, name, protocols: { "morpho-v1": morpho } }] },
  };
}
