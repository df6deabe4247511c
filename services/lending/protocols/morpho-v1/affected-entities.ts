import { readTopicAddress } from "../../../shared/evm/abi.ts";
import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import type { EntityRef, KnownEntities } from "../protocol.ts";
import type { MorphoDeployment } from "./deployment.ts";
import { FACTORY_EVENTS, MORPHO_EVENTS, VAULT_EVENTS } from "./events.ts";
import { creationRef, marketRef, VAULT, vaultRef } from "./state.ts";

const morphoTopics: ReadonlySet<Hex> = new Set(Object.values(MORPHO_EVENTS));
const vaultTopics: ReadonlySet<Hex> = new Set(Object.values(VAULT_EVENTS));

export const MORPHO_TOPICS: readonly Hex[] = [
  ...new Set([...morphoTopics, ...Object.values(FACTORY_EVENTS), ...vaultTopics]),
];

/** The market and the vault that a log creates or changes. */
export function affectedMorphoEntities(
  log: RawLog,
  { known, deployment }: { known: KnownEntities; deployment: MorphoDeployment },
): readonly EntityRef[] {
  const [topic] = log.topics;
  if (topic === undefined) return [];
  if (log.address === deployment.morpho) return morphoTopics.has(topic) ? affectedByMorpho(log, known) : [];
  if (topic === FACTORY_EVENTS.CreateMetaMorpho) {
    const isKnown = deployment.vaultFactories.some(({ address }) => address === log.address);
    if (!isKnown) return [];
    const [vault, creator] = [readTopicAddress(log.topics[1]), readTopicAddress(log.topics[2])];
    return [vaultRef(vault), creationRef(vault, creator)];
  }
  return vaultTopics.has(topic) && known.has(VAULT, log.address) ? [vaultRef(log.address)] : [];
}

/** The first argument of every Morpho event is its market. Supply and Withdraw also have the owner of the shares as a topic. */
function affectedByMorpho(log: RawLog, known: KnownEntities): EntityRef[] {
  const [topic, id, ...others] = log.topics;
  const market = marketRef(id as Hex);
  if (topic !== MORPHO_EVENTS.Supply && topic !== MORPHO_EVENTS.Withdraw) return [market];
  const owner = readTopicAddress(topic === MORPHO_EVENTS.Supply ? others[1] : others[0]);
  return known.has(VAULT, owner) ? [market, vaultRef(owner)] : [market];
}
