import { firstCandle, INTERVAL_SECONDS } from "../../../../shared/contract/candle-params.ts";
import { toCells } from "../../../../shared/contract/cells.ts";
import type { Handler, ParamsOf } from "../../../../shared/contract/endpoint.ts";
import { formatValue } from "../../../../shared/contract/parameter-error.ts";
import { ServiceError } from "../../../../shared/errors.ts";
import { versionOf } from "../../../../shared/index/evm/checkpoint.ts";
import { Pacer } from "../../../../shared/service/pacer.ts";
import type { MarketRow, VaultRow } from "../../../protocols/rows.ts";
import type { HistoryDeps } from "../../../serve/deps.ts";
import { readAtHead } from "../../../serve/head.ts";
import { RateHistory } from "../../../serve/rate-history.ts";
import type { CheckpointRow } from "../../../store/collections.ts";
import { endpoint } from "./rates.endpoint.ts";

type Params = ParamsOf<typeof endpoint>;

export function ratesHandler({ store, chains }: HistoryDeps): Handler<typeof endpoint> {
  return async (params, { signal }) => {
    const chainId = params.chain_id;
    const target = { id: params.id.toLowerCase(), underlying: params.underlying_address };
    const deployedHere = chains.find((chain) => chain.chainId === chainId)?.protocols ?? [];
    const found = await readAtHead(store, {
      chainId,
      signal,
      async read(checkpoint, view) {
        const pacer = new Pacer(signal);
        for (const deployed of deployedHere) {
          const history = new RateHistory(view, { chainId, deployed, target });
          // What is not known at the head is another protocol's.
          if ((await history.rowAt(checkpoint.blockTime, pacer)) === undefined) continue;
          return readRows({ history, params, checkpoint, pacer });
        }
        return undefined;
      },
    });
    if (found?.value === undefined) throw unknownError(params);
    return { rows: found.value, version: versionOf(found.checkpoint) };
  };
}

async function readRows({
  history,
  params,
  checkpoint,
  pacer,
}: {
  history: RateHistory;
  params: Params;
  checkpoint: CheckpointRow;
  pacer: Pacer;
}) {
  const { interval, after_time, before_time } = params;
  const seconds = INTERVAL_SECONDS[interval];
  const { blockTime, fromTime } = checkpoint;
  const rows: ReturnType<typeof toRateCells>[] = [];
  const first = firstCandle(Math.max(after_time, fromTime - seconds), interval);
  for (let start = first; start < before_time && start <= blockTime; start += seconds) {
    const row = await history.rowAt(Math.min(start + seconds - 1, blockTime), pacer);
    if (row !== undefined) rows.push(toRateCells(start, row));
  }
  return rows;
}

function toRateCells(start: number, row: VaultRow | MarketRow) {
  const token = row.table === "vault" ? row.underlying : row.loan;
  const { protocolId, supplyApy, borrowApy, utilizationRate, supply, borrow, available } = row;
  return toCells(endpoint, {
    unixTime: start,
    protocolId,
    supplyApy,
    borrowApy,
    utilizationRate,
    tvl: supply,
    borrow,
    availableLiquidity: available,
    tokenAddress: token.address,
    tokenSymbol: token.symbol,
  });
}

function unknownError({ id, underlying_address, chain_id }: Params): ServiceError {
  const reserve = underlying_address === undefined ? "" : ` of token ${underlying_address}`;
  return new ServiceError(
    "not_found",
    `No vault or market ${formatValue(id)}${reserve} is known on chain ${chain_id}. A poolAddress needs underlying_address.`,
  );
}
