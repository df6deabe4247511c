import {
  createPublicClient,
  type Hex,
  http,
  type Log,
  type PublicClient,
  parseAbi,
  parseEventLogs,
} from "viem";
import { factoryAbi, poolAbi } from "./contracts/uniswap.ts";
import type { Address } from "./desk.ts";

const erc20Abi = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

export interface Slot0 {
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
  readonly feeProtocol: number;
}

/** Decoded by viem, so that tests can hold the services' own decoders against it. */
export type PoolEvent = ReturnType<typeof parsePoolEvents>[number];

function parsePoolEvents(logs: Log[]) {
  return parseEventLogs({ abi: [...factoryAbi, ...poolAbi], logs, strict: true });
}

/** Truth about a chain by viem alone: nothing here is shared with the services under test. */
export interface ChainReader {
  readonly client: PublicClient;
  slot0(pool: Address, block?: number): Promise<Slot0>;
  liquidity(pool: Address, block?: number): Promise<bigint>;
  balanceOf(token: Address, owner: Address, block?: number): Promise<bigint>;
  /** Pool and factory events of one transaction, in log order; throws if it failed. */
  eventsOf(hash: Hex): Promise<PoolEvent[]>;
  /** Pool and factory events of blocks, both inclusive, in log order. */
  events(range?: { fromBlock?: number; toBlock?: number; pool?: Address }): Promise<PoolEvent[]>;
  headNumber(): Promise<number>;
  header(block: number): Promise<{ number: number; hash: Hex; parentHash: Hex; timestamp: number }>;
}

export function createChainReader(url: string): ChainReader {
  const client = createPublicClient({
    transport: http(url, { maxResponseBodySize: false }),
    cacheTime: 0,
    pollingInterval: 50,
  }) as PublicClient;
  const at = (block?: number) => (block === undefined ? {} : { blockNumber: BigInt(block) });
  return {
    client,
    async slot0(pool, block) {
      const read = { address: pool, abi: poolAbi, functionName: "slot0", ...at(block) } as const;
      const [sqrtPriceX96, tick, , , , feeProtocol] = await client.readContract(read);
      return { sqrtPriceX96, tick, feeProtocol };
    },
    liquidity: (pool, block) =>
      client.readContract({ address: pool, abi: poolAbi, functionName: "liquidity", ...at(block) }),
    balanceOf: (token, owner, block) =>
      client.readContract({
        address: token,
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [owner],
        ...at(block),
      }),
    async eventsOf(hash) {
      const receipt = await client.getTransactionReceipt({ hash });
      if (receipt.status !== "success") throw new Error(`Transaction ${hash} failed`);
      return parsePoolEvents(receipt.logs);
    },
    async events({ fromBlock = 0, toBlock, pool } = {}) {
      const to = toBlock === undefined ? "latest" : BigInt(toBlock);
      const filter = { fromBlock: BigInt(fromBlock), toBlock: to } as const;
      return parsePoolEvents(
        await client.getLogs(pool === undefined ? filter : { ...filter, address: pool }),
      );
    },
    headNumber: async () => Number(await client.getBlockNumber()),
    async header(block) {
      const { number, hash, parentHash, timestamp } = await client.getBlock({ blockNumber: BigInt(block) });
      return { number: Number(number), hash, parentHash, timestamp: Number(timestamp) };
    },
  };
}
