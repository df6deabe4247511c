import type { Rpc } from "../../../deploy/devnet/node/rpc.ts";
import { decodeText, encodeCall, readInt } from "../../shared/evm/abi.ts";
import type { Hex, RawLog } from "../../shared/evm/port.ts";
import { EntityMap } from "../protocols/entity-map.ts";
import type {
  ContractReader,
  Entity,
  EntityRef,
  EntityState,
  LendingProtocol,
  TokenMetadata,
} from "../protocols/protocol.ts";
import type { LendingRow } from "../protocols/rows.ts";
import { fromStateText, toStateText } from "../store/state-text.ts";

/** Anybody. */
const CALLER: Hex = "0x00000000000000000000000000000000000ca11e";

/** A reader that makes every call by itself, at one block of a chain: nothing between the protocol and the contracts. */
export async function plainReader(rpc: Rpc, block: number): Promise<ContractReader> {
  const tag = `0x${block.toString(16)}`;
  const [header, chainId] = await Promise.all([
    rpc.call<{ timestamp: Hex }>("eth_getBlockByNumber", [tag, false]),
    rpc.call<Hex>("eth_chainId"),
  ]);
  const call = async (to: Hex, data: Hex): Promise<Hex | null> => {
    try {
      const returned = await rpc.call<Hex>("eth_call", [{ from: CALLER, to, data }, tag]);
      return returned === "0x" ? null : returned;
    } catch (error) {
      if (error instanceof Error && /revert/i.test(error.message)) return null;
      throw error;
    }
  };
  return {
    chainId: Number(chainId),
    block,
    time: Number(header.timestamp),
    caller: CALLER,
    call,
    async token(address): Promise<TokenMetadata> {
      const read = (selector: Hex) => call(address as Hex, encodeCall(selector));
      const [symbol, name, decimals] = await Promise.all([
        read("0x95d89b41"),
        read("0x06fdde03"),
        read("0x313ce567"),
      ]);
      const short = decodeText(symbol) ?? "";
      return {
        address,
        symbol: short,
        name: decodeText(name) ?? short,
        decimals: decimals === null ? 0 : readInt(decimals, 0),
      };
    },
  };
}

/** A protocol's entities, read as by an ingest: the roots, those of logs, their references. States pass through their text. */
export class ProtocolUnits<D> {
  readonly table = new EntityMap();
  readonly #known = new Set<string>();
  readonly #source: { protocol: LendingProtocol<D>; deployment: D };

  constructor(source: { protocol: LendingProtocol<D>; deployment: D }) {
    this.#source = source;
  }

  has(kind: string, id: string): boolean {
    return this.#known.has(`${kind} ${id}`);
  }

  state<S = EntityState>(kind: string, id: string): S | undefined {
    return this.table.get<S>(kind, id)?.state;
  }

  /** Processes logs, oldest first; returns the entities to read, without those that they refer to. */
  affectedEntities(logs: readonly RawLog[]): EntityRef[] {
    const { protocol, deployment } = this.#source;
    const affected = new Map<string, EntityRef>();
    for (const log of logs) {
      for (const ref of protocol.affectedEntities(log, { known: this, deployment })) {
        this.#known.add(`${ref.kind} ${ref.id}`);
        affected.set(`${ref.kind} ${ref.id}`, ref);
      }
    }
    return [...affected.values()];
  }

  /** Reads these entities and all new ones that they refer to. Rejects with the first unreadable one. */
  async read(refs: readonly EntityRef[], reader: ContractReader): Promise<void> {
    const { protocol, deployment } = this.#source;
    let wanted = refs;
    while (wanted.length > 0) {
      const found: EntityRef[] = [];
      await Promise.all(
        wanted.map(async (ref) => {
          this.#known.add(`${ref.kind} ${ref.id}`);
          const previous = this.table.get(ref.kind, ref.id)?.state;
          const reading = await protocol.read(ref, { reader, previous, deployment });
          const state = fromStateText(toStateText(reading.state));
          const entity: Entity = { ...ref, state, block: reader.block, time: reader.time };
          this.table.put(entity);
          for (const each of reading.references ?? []) {
            if (!this.has(each.kind, each.id)) found.push(each);
          }
        }),
      );
      wanted = found;
    }
  }

  /** Reads the roots, and what they find. */
  readRoots(reader: ContractReader): Promise<void> {
    return this.read(this.#source.protocol.roots(this.#source.deployment), reader);
  }

  rows(at: { chainId: number; time: number }): LendingRow[] {
    const { protocol, deployment } = this.#source;
    return [...protocol.rows(this.table, { ...at, deployment })];
  }
}
