import { type Hex, type Log, type PublicClient, parseEventLogs } from "viem";
import {
  aerodromeFactoryAbi,
  aerodromeGaugeAbi,
  aerodromePoolAbi,
  aerodromeVoterAbi,
} from "../contracts/aerodrome/abi.ts";
import type { Address } from "../node/transactions.ts";
import type { AerodromeDeployment, AerodromePool } from "./deploy.ts";

/** Decoded by viem, so that tests can hold the services' own decoders against it. */
export type AerodromeEvent = ReturnType<typeof parseAerodromeEvents>[number];

function parseAerodromeEvents(logs: Log[]) {
  const abi = [...aerodromeFactoryAbi, ...aerodromePoolAbi, ...aerodromeGaugeAbi, ...aerodromeVoterAbi];
  return parseEventLogs({ abi, logs, strict: true });
}

export interface GaugeState {
  readonly rewardRate: bigint;
  readonly periodFinish: number;
  /** LP tokens staked. */
  readonly totalSupply: bigint;
  readonly alive: boolean;
}

/** Truth about Aerodrome pools by viem alone, at a block or the head. */
export interface AerodromeReader {
  reserves(pool: Address, block?: number): Promise<readonly [bigint, bigint]>;
  totalSupply(pool: Address, block?: number): Promise<bigint>;
  /** LP tokens in the owner's own hands; staked ones are the gauge's. */
  lpBalance(pool: Address, owner: Address, block?: number): Promise<bigint>;
  staked(gauge: Address, owner: Address, block?: number): Promise<bigint>;
  earned(gauge: Address, owner: Address, block?: number): Promise<bigint>;
  amountOut(pool: Address, swap: { amountIn: bigint; tokenIn: Address }, block?: number): Promise<bigint>;
  /** Hundredths of a percent. */
  fee(pool: Pick<AerodromePool, "address" | "stable">, block?: number): Promise<number>;
  /** Undefined where the pool has none. */
  gaugeOf(pool: Address, block?: number): Promise<Address | undefined>;
  gauge(gauge: Address, block?: number): Promise<GaugeState>;
  stakingToken(gauge: Address): Promise<Address>;
  /** Events of one transaction, in log order, of factory, pools, gauges and voter; throws if it failed. */
  eventsOf(hash: Hex): Promise<AerodromeEvent[]>;
  /** The same of blocks, both inclusive; transfers of LP tokens are among them, those of other tokens are not. */
  events(range?: { fromBlock?: number; toBlock?: number }): Promise<AerodromeEvent[]>;
}

export function createAerodromeReader(
  client: PublicClient,
  { factory, voter }: AerodromeDeployment,
): AerodromeReader {
  const at = (block?: number) => (block === undefined ? {} : { blockNumber: BigInt(block) });
  const pool = (address: Address, block?: number) =>
    ({ address, abi: aerodromePoolAbi, ...at(block) }) as const;
  const gauge = (address: Address, block?: number) =>
    ({ address, abi: aerodromeGaugeAbi, ...at(block) }) as const;
  const isPool = new Map<Address, boolean>();
  /** By block and place: a chain's events are asked for again and again, and viem takes a tenth of a millisecond for each. */
  const parsed = new Map<string, AerodromeEvent | undefined>();
  const placeOf = ({ blockHash, logIndex }: Log) => `${blockHash} ${logIndex}`;

  function parse(logs: Log[]): AerodromeEvent[] {
    const fresh = logs.filter((log) => !parsed.has(placeOf(log)));
    for (const log of fresh) parsed.set(placeOf(log), undefined);
    for (const event of parseAerodromeEvents(fresh)) parsed.set(placeOf(event), event);
    return logs.flatMap((log) => parsed.get(placeOf(log)) ?? []);
  }

  /** A Transfer has the same topic on every ERC-20: the factory knows which are of LP tokens. */
  async function withoutForeignTransfers(events: AerodromeEvent[]): Promise<AerodromeEvent[]> {
    const unknown = events.filter(
      ({ eventName, address }) => eventName === "Transfer" && !isPool.has(address),
    );
    for (const address of new Set(unknown.map((event) => event.address))) {
      const args = [address] as const;
      isPool.set(
        address,
        await client.readContract({
          address: factory,
          abi: aerodromeFactoryAbi,
          functionName: "isPool",
          args,
        }),
      );
    }
    return events.filter(({ eventName, address }) => eventName !== "Transfer" || isPool.get(address));
  }

  return {
    async reserves(address, block) {
      const [reserve0, reserve1] = await client.readContract({
        ...pool(address, block),
        functionName: "getReserves",
      });
      return [reserve0, reserve1];
    },
    totalSupply: (address, block) =>
      client.readContract({ ...pool(address, block), functionName: "totalSupply" }),
    lpBalance: (address, owner, block) =>
      client.readContract({ ...pool(address, block), functionName: "balanceOf", args: [owner] }),
    staked: (address, owner, block) =>
      client.readContract({ ...gauge(address, block), functionName: "balanceOf", args: [owner] }),
    earned: (address, owner, block) =>
      client.readContract({ ...gauge(address, block), functionName: "earned", args: [owner] }),
    amountOut: (address, { amountIn, tokenIn }, block) =>
      client.readContract({
        ...pool(address, block),
        functionName: "getAmountOut",
        args: [amountIn, tokenIn],
      }),
    async fee({ address, stable }, block) {
      const read = {
        address: factory,
        abi: aerodromeFactoryAbi,
        functionName: "getFee",
        ...at(block),
      } as const;
      return Number(await client.readContract({ ...read, args: [address, stable] }));
    },
    async gaugeOf(address, block) {
      const read = { address: voter, abi: aerodromeVoterAbi, functionName: "gauges", ...at(block) } as const;
      const found = (await client.readContract({ ...read, args: [address] })).toLowerCase() as Address;
      return BigInt(found) === 0n ? undefined : found;
    },
    async gauge(address, block) {
      const life = { address: voter, abi: aerodromeVoterAbi, functionName: "isAlive", ...at(block) } as const;
      const [rewardRate, periodFinish, totalSupply, alive] = await Promise.all([
        client.readContract({ ...gauge(address, block), functionName: "rewardRate" }),
        client.readContract({ ...gauge(address, block), functionName: "periodFinish" }),
        client.readContract({ ...gauge(address, block), functionName: "totalSupply" }),
        client.readContract({ ...life, args: [address] }),
      ]);
      return { rewardRate, periodFinish: Number(periodFinish), totalSupply, alive };
    },
    stakingToken: (address) => client.readContract({ ...gauge(address), functionName: "stakingToken" }),
    async eventsOf(hash) {
      const receipt = await client.getTransactionReceipt({ hash });
      if (receipt.status !== "success") throw new Error(`Transaction ${hash} failed`);
      return withoutForeignTransfers(parseAerodromeEvents(receipt.logs));
    },
    async events({ fromBlock = 0, toBlock } = {}) {
      const to = toBlock === undefined ? "latest" : BigInt(toBlock);
      const logs = await client.getLogs({ fromBlock: BigInt(fromBlock), toBlock: to });
      return withoutForeignTransfers(parse(logs));
    },
  };
}
