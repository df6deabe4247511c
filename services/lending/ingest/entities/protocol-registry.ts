import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import type { ChainDeployments, DeployedProtocol } from "../../deployments.ts";
import type { DiscoveryScan, EntityRef, KnownEntities } from "../../protocols/protocol.ts";

/** The protocols of one chain, by kind of entity and by topic. */
export class ProtocolRegistry {
  readonly #protocols: readonly DeployedProtocol[];
  readonly #byKind = new Map<string, DeployedProtocol>();
  readonly #byTopic = new Map<Hex, DeployedProtocol[]>();

  constructor({ protocols }: Pick<ChainDeployments, "protocols">) {
    this.#protocols = protocols;
    for (const deployed of protocols) {
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
  forKind(kind: string): DeployedProtocol {
    const deployed = this.#byKind.get(kind);
    if (deployed === undefined) throw new Error(`No protocol of this chain has entities of kind ${kind}.`);
    return deployed;
  }

  roots(): EntityRef[] {
    return this.#protocols.flatMap(({ protocol, deployment }) => protocol.roots(deployment));
  }

  scans(): { readonly scan: DiscoveryScan; readonly deployed: DeployedProtocol }[] {
    return this.#protocols.flatMap((deployed) =>
      deployed.protocol.scans(deployed.deployment).map((scan) => ({ scan, deployed })),
    );
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
  { protocol, deployment }: DeployedProtocol,
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
