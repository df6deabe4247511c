import type { AsOf } from "../../../shared/contract/as-of.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import type { PriceSource } from "../../../shared/grpc/types.ts";
import { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { CuratorRegistry } from "../../curators.ts";
import type { ChainDeployments, DeployedProtocol } from "../../deployments.ts";
import { priceOracles } from "../../protocols/price-oracles/price-oracles.ts";
import type { ProtocolId } from "../../protocols/protocol-id.ts";
import { readAtHead } from "../head.ts";
import { type OraclePrices, oraclePricesOf } from "../prices/oracle-prices.ts";
import { mergePrices, NO_PRICES, type PriceTable } from "../prices/price-table.ts";
import { isPriced, requestWalk } from "../prices/request-walk.ts";
import type { HeadState } from "../tables/lending-tables.ts";
import { ProtocolTables } from "../tables/protocol-tables.ts";
import { collectRows, RowDictionaries, type RowSet, tokensOf } from "../tables/row-set.ts";
import { findHourEnd, type HourEnd } from "./hour-end.ts";
import { readPastEntities } from "./past-entities.ts";

export interface PastTablesOptions {
  readonly store: Store;
  readonly chains: readonly ChainDeployments[];
  readonly prices: PriceSource;
  readonly curators: CuratorRegistry;
  readonly staleSeconds: number;
}

interface PastQuery {
  readonly chainId: number;
  readonly protocol: ProtocolId;
  readonly asOf: AsOf;
}

interface PastRows {
  readonly rows: RowSet;
  readonly oracles: OraclePrices;
}

/** Tables in memory: several pages of one list are asked for, one after the other. */
const MOST_KEPT = 4;

/**
 * The tables of a protocol at the ends of past hours, made of the states that were stored then and of the prices of that block.
 * One is made at a time: each takes as long as the tables of a head.
 */
export class PastTables {
  readonly #options: PastTablesOptions;
  /** By block, the latest used last. */
  readonly #kept = new Map<string, Promise<{ tables: ProtocolTables; isPriced: boolean }>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PastTablesOptions) {
    this.#options = options;
  }

  /** Undefined where nothing is indexed. Throws not_found for a block that cannot be told. */
  async stateAt({ chainId, protocol, asOf }: PastQuery): Promise<HeadState | undefined> {
    const { store, chains } = this.#options;
    const deployed = chains
      .find((chain) => chain.chainId === chainId)
      ?.protocols.find((each) => each.protocol.id === protocol);
    const found = await readAtHead(store, {
      chainId,
      signal: undefined,
      async read(checkpoint, view) {
        const end = await findHourEnd(view, { checkpoint, asOf });
        const final = await view.get(finalBlocks, { chainId });
        return { end, isFinal: final !== undefined && end.block <= final.number };
      },
    });
    if (found === undefined) return undefined;
    const { end, isFinal } = found.value;
    const { blockNumber: head, fromBlock } = found.checkpoint;
    const version = { block: end.block, time: end.time, blockHash: end.blockHash, fromBlock, head };
    if (deployed === undefined) return { version };
    const made = await this.#tablesAt({ chainId, deployed, end });
    const tag = made.tables.priceTag;
    // Without prices the answer may be another one tomorrow.
    return { tables: made.tables, version: { ...version, tag, isFinal: isFinal && made.isPriced } };
  }

  #tablesAt(at: { chainId: number; deployed: DeployedProtocol; end: HourEnd }) {
    const { chainId, deployed, end } = at;
    const key = `${chainId} ${deployed.protocol.id} ${end.blockHash}`;
    const kept = this.#kept.get(key);
    const made = kept ?? this.#last.then(() => this.#make(at));
    this.#kept.delete(key);
    this.#kept.set(key, made);
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value as string);
    if (kept !== undefined) return kept;
    const forget = () => {
      if (this.#kept.get(key) === made) this.#kept.delete(key);
    };
    this.#last = made.then(({ isPriced }) => isPriced || forget(), forget);
    return made;
  }

  async #make(at: { chainId: number; deployed: DeployedProtocol; end: HourEnd }) {
    const { curators, prices } = this.#options;
    const { chainId, deployed, end } = at;
    const { oracles, rows } = await this.#readRows(at);
    const walk = await requestWalk(prices, { chainId, block: end.block, tokens: tokensOf(rows) });
    const table: PriceTable = isPriced(walk)
      ? mergePrices(walk === "not_indexed" ? undefined : walk, { oracles, walkLagSeconds: 0 })
      : NO_PRICES;
    const tables = new ProtocolTables({
      ...{ rows, prices: table, curators, chainId },
      ...{ protocol: deployed.protocol.id, time: end.time },
    });
    return { tables, isPriced: isPriced(walk) };
  }

  async #readRows(at: { chainId: number; deployed: DeployedProtocol; end: HourEnd }): Promise<PastRows> {
    const { store, chains, staleSeconds } = this.#options;
    const { chainId, deployed, end } = at;
    const chain = chains.find((each) => each.chainId === chainId) as ChainDeployments;
    const slices = new TimeSlices();
    const found = await readAtHead(store, {
      chainId,
      signal: undefined,
      async read(_checkpoint, view) {
        const kinds = [...deployed.protocol.kinds, ...priceOracles.kinds];
        const entities = await readPastEntities(view, { chainId, kinds, end, slices });
        const ids = priceOracles.roots(chain.oracles).map(({ id }) => id);
        const oracles = oraclePricesOf(entities, { time: end.time, ids, staleSeconds });
        const rows = await collectRows({
          ...{ deployed, entities, chainId, time: end.time, memory: new RowDictionaries(), slices },
          onSkipped: () => {},
        });
        return { oracles, rows };
      },
    });
    if (found === undefined) throw new ServiceError("unavailable", "The index was removed meanwhile.");
    return found.value;
  }
}
