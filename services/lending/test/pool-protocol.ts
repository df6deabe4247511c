import { getAbiItem, toEventSelector } from "viem";
import { factoryAbi, poolAbi } from "../../../deploy/devnet/contracts/uniswap.ts";
import { encodeCall, readAddress, readInt, readUint } from "../../shared/evm/abi.ts";
import type { Hex } from "../../shared/evm/port.ts";
import {
  type ContractReader,
  type EntityRef,
  type LendingProtocol,
  UnreadableEntity,
} from "../protocols/protocol.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import { type MarketRow, toUnits } from "../protocols/rows.ts";

/** Where the devnet's genuine Uniswap v3 is. */
export interface PoolDeployment {
  readonly factory: Hex;
  readonly fromBlock: number;
}

interface PoolState {
  readonly token0: Hex;
  readonly token1: Hex;
  readonly sqrtPriceX96: bigint;
  readonly tick: number;
  readonly liquidity: bigint;
  readonly feeGrowth0: bigint;
  readonly feeGrowth1: bigint;
}

interface SideState {
  readonly token: { readonly address: string; readonly symbol: string };
  readonly decimals: number;
  readonly balance: bigint;
}

export const FACTORY = "pools-factory";
export const POOL = "pools-pool";
export const SIDE = "pools-side";

const POOL_CREATED = toEventSelector(getAbiItem({ abi: factoryAbi, name: "PoolCreated" }));
const POOL_TOPICS = poolAbi.flatMap((item) => (item.type === "event" ? [toEventSelector(item)] : []));

/**
 * The devnet's Uniswap pools treated as a lending protocol: something to find in past logs, something that is found by
 * reading something else, state that logs touch. For tests of what is true of any protocol.
 */
export const poolProtocol: LendingProtocol<PoolDeployment> = {
  id: "pools" as ProtocolId,
  kinds: [FACTORY, POOL, SIDE],
  topics: [POOL_CREATED, ...POOL_TOPICS],
  parseDeployment: (section) => section as PoolDeployment,
  roots: ({ factory }) => [{ kind: FACTORY, id: factory }],
  scans: ({ factory, fromBlock }) => [
    { name: "pools-created", addresses: [factory], topics: [POOL_CREATED], fromBlock },
  ],
  affectedEntities(log, { known, deployment }): EntityRef[] {
    if (log.topics[0] === POOL_CREATED)
      return log.address === deployment.factory ? [{ kind: POOL, id: readAddress(log.data, 1) }] : [];
    if (!known.has(POOL, log.address)) return [];
    const sides = [0, 1].map((i) => ({ kind: SIDE, id: `${log.address}:${i}` }));
    return [{ kind: POOL, id: log.address }, ...sides.filter(({ kind, id }) => known.has(kind, id))];
  },
  async read({ kind, id }, { reader, previous }) {
    if (kind === FACTORY)
      return { state: { owner: readAddress(await must(reader, id as Hex, "0x8da5cb5b"), 0) } };
    if (kind === SIDE)
      return { state: { ...(await readSide(id, { reader, previous: previous as SideState | undefined })) } };
    const state = await readPool(id as Hex, { reader, previous: previous as PoolState | undefined });
    return { state: { ...state }, references: [0, 1].map((i) => ({ kind: SIDE, id: `${id}:${i}` })) };
  },
  *rows(entities, { time }) {
    for (const { id, state, time: readAt } of entities.all<PoolState>(POOL)) {
      const sides = [0, 1].map((i) => entities.get<SideState>(SIDE, `${id}:${i}`)?.state);
      const [loan, collateral] = sides;
      if (loan === undefined || collateral === undefined || time < readAt) continue;
      yield toRow(id, { state, loan, collateral });
    }
  },
};

function toRow(
  marketId: string,
  options: { state: PoolState; loan: SideState; collateral: SideState },
): MarketRow {
  const { state, loan, collateral } = options;
  return {
    table: "market",
    listed: true,
    protocolId: poolProtocol.id,
    marketId,
    loan: loan.token,
    collateral: collateral.token,
    supply: toUnits(loan.balance, loan.decimals),
    borrow: toUnits(collateral.balance, collateral.decimals),
    available: toUnits(state.liquidity, 18),
    ltv: state.tick,
    supplyApy: toUnits(state.feeGrowth0, 38),
    borrowApy: toUnits(state.feeGrowth1, 38),
    utilizationRate: toUnits(state.sqrtPriceX96, 28),
  };
}

async function readPool(
  pool: Hex,
  { reader, previous }: { reader: ContractReader; previous: PoolState | undefined },
): Promise<PoolState> {
  const [slot0, liquidity, growth0, growth1, token0, token1] = await Promise.all([
    must(reader, pool, "0x3850c7bd"),
    must(reader, pool, "0x1a686502"),
    must(reader, pool, "0xf3058399"),
    must(reader, pool, "0x46141319"),
    previous === undefined
      ? must(reader, pool, "0x0dfe1681").then((data) => readAddress(data, 0))
      : previous.token0,
    previous === undefined
      ? must(reader, pool, "0xd21220a7").then((data) => readAddress(data, 0))
      : previous.token1,
  ]);
  return {
    token0,
    token1,
    sqrtPriceX96: readUint(slot0, 0),
    tick: readInt(slot0, 1),
    liquidity: readUint(liquidity, 0),
    feeGrowth0: readUint(growth0, 0),
    feeGrowth1: readUint(growth1, 0),
  };
}

async function readSide(
  id: string,
  { reader, previous }: { reader: ContractReader; previous: SideState | undefined },
): Promise<SideState> {
  const [pool, side] = id.split(":") as [Hex, string];
  const token =
    (previous?.token.address as Hex | undefined) ??
    readAddress(await must(reader, pool, side === "0" ? "0x0dfe1681" : "0xd21220a7"), 0);
  const [balance, facts] = await Promise.all([
    must(reader, token, encodeCall("0x70a08231", [pool])),
    reader.token(token),
  ]);
  return {
    token: { address: token, symbol: facts.symbol },
    decimals: facts.decimals,
    balance: readUint(balance, 0),
  };
}

async function must(reader: ContractReader, to: Hex, data: Hex): Promise<Hex> {
  const answer = await reader.call(to, data);
  if (answer === null) throw new UnreadableEntity(`${to} does not return ${data.slice(0, 10)}`);
  return answer;
}
