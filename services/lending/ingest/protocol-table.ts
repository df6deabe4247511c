import type { Hex, RawLog } from "../../shared/evm/port.ts";
import type { ChainDeployments, DeployedProtocol } from "../deployments.ts";
import type { DiscoveryScan, KnownUnits, UnitRef } from "../protocols/protocol.ts";

/** The protocols of one chain, by what they are asked by. */
export class ProtocolTable {
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

  /** Of all protocols, in the order of a first reading. */
  get kinds(): ReadonlySet<string> {
    return new Set(this.#byKind.keys());
  }

  get topics(): Hex[] {
    return [...this.#byTopic.keys()];
  }

  /** Throws for a kind that no protocol of the chain has. */
  of(kind: string): DeployedProtocol {
    const deployed = this.#byKind.get(kind);
    if (deployed === undefined) throw new Error(`No protocol of this chain has units of the kind ${kind}.`);
    return deployed;
  }

  roots(): UnitRef[] {
    return this.#protocols.flatMap(({ protocol, deployment }) => protocol.roots(deployment));
  }

  scans(): { readonly scan: DiscoveryScan; readonly of: DeployedProtocol }[] {
    return this.#protocols.flatMap((of) => of.protocol.scans(of.deployment).map((scan) => ({ scan, of })));
  }

  /** The units that a log creates or changes, whichever protocol it is of. */
  hear(log: RawLog, known: KnownUnits): UnitRef[] {
    const heard = this.#byTopic.get(log.topics[0] as Hex) ?? [];
    return heard.flatMap((each) => hearOne(log, each, known));
  }
}

/** The units that a log creates or changes; none where it has not the form of the protocol's own. */
export function hearOne(
  log: RawLog,
  { protocol, deployment }: DeployedProtocol,
  known: KnownUnits,
): readonly UnitRef[] {
  try {
    return protocol.hear(log, { known, deployment });
  } catch (error) {
    // Anybody may emit a log with the topic of another's and arguments of his own.
    if (error instanceof RangeError) return [];
    throw error;
  }
}
