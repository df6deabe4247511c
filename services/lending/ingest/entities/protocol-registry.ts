import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import type { ChainDeployments } from "../../deployments.ts";
import { priceOracles } from "../../protocols/price-oracles/price-oracles.ts";
import type {
  DiscoveryScan,
  EntityRef,
  EntitySource,
  EntityState,
  KnownEntities,
} from "../../protocols/protocol.ts";

/** A protocol or the price oracles, and its contracts on one chain. */
export interface DeployedSource {
  readonly protocol: EntitySource;
  readonly deployment: unknown;
}

/** The protocols of one chain and its price oracles, by kind of entity and by topic. */
export class ProtocolRegistry {
  readonly #protocols: readonly DeployedSource[];
  readonly #byKind = new Map<string, DeployedSource>();
  readonly #byTopic = new Map<Hex, DeployedSource[]>();

  constructor({ protocols, oracles }: Pick<ChainDeployments, "protocols" | "oracles">) {
    const sources = [...protocols, { protocol: priceOracles as EntitySource, deployment: oracles }];
    this.#protocols = sources;
    for (const deployed of sources) {
      for (const kind of deployed.protocol.kinds) this.#byKind.set(kind, deployed);
      for (const topic of deployed.protocol.topics) {
        this.#byTopic.set(topic, [...(this.#byTopic.get(topic) ?? []), deployed]);
      }
    }
  }

  /** The kinds of all protocols, in the order of a first reading. */
  get kinds(): ReadonlySet<string> {
    return new Set(this.#byKind.keys());
  }

  get topics(): Hex[] {
    return [...this.#byTopic.keys()];
  }

  /** Throws for a kind that no protocol of the chain has. */
  forKind(kind: string): DeployedSource {
    const deployed = this.#byKind.get(kind);
    if (deployed === undefined) throw new Error(`No protocol of this chain has entities of kind ${kind}.`);
    return deployed;
  }

  roots(): EntityRef[] {
    return this.#protocols.flatMap(({ protocol, deployment }) => protocol.roots(deployment));
  }

  scans(): { readonly scan: DiscoveryScan; readonly deployed: DeployedSource }[] {
    return this.#protocols.flatMap((deployed) =>
      deployed.protocol.scans(deployed.deployment).map((scan) => ({ scan, deployed })),
    );
  }

  /** Whether an entity may change at any block without an event. */
  isVolatile(kind: string, stateOf: () => EntityState | undefined): boolean {
    const isVolatile = this.#byKind.get(kind)?.protocol.volatile?.[kind];
    const state = isVolatile && stateOf();
    return state !== undefined && isVolatile?.(state) === true;
  }

  /** The entities of any protocol that a log creates or changes. */
  affectedEntities(log: RawLog, known: KnownEntities): EntityRef[] {
    const candidates = this.#byTopic.get(log.topics[0] as Hex) ?? [];
    return candidates.flatMap((deployed) => affectedInProtocol(log, deployed, known));
  }
}

/** The entities of one protocol that a log creates or changes; none for a malformed log. */
export function affectedInProtocol(
  log: RawLog,
  { protocol, deployment }: DeployedSource,
  known: KnownEntities,
): readonly EntityRef[] {
  try {
    return protocol.affectedEntities(log, { known, deployment });
  } catch (error) {
    // Any contract may emit a log with this topic and other arguments.
    if (error instanceof RangeError) return [];
    throw error;
  }
}
