import { chainModel, findProvider, type Plan, type Provider } from "./data.ts";
import {
  type Cost,
  countCalls,
  type Estimate,
  estimate,
  guessPlan,
  hoursOf,
  type Means,
  sum,
  unitsOf,
} from "./estimate.ts";
import { formatAmount, formatBytes, formatHours } from "./format.ts";
import type { PortalFacts } from "./portal.ts";
import type { EndpointFacts } from "./probe.ts";
import { type Deployed, workOf } from "./work.ts";

/** What a start of one chain will cost, and what stands against it. */
export interface Diagnosis {
  readonly chainId: number;
  readonly name: string;
  readonly historyDays: number;
  readonly endpoints: readonly EndpointFacts[];
  readonly portal: PortalFacts | undefined;
  readonly hasWebsocket: boolean;
  readonly estimate: Estimate | undefined;
  readonly provider: Provider | undefined;
  readonly plan: Plan | undefined;
  /** Hours of discovery and history; undefined where nothing that limits them is known. */
  readonly hours: { readonly discovery: number | undefined; readonly history: number | undefined };
  /** Whole sentences, the gravest first. */
  readonly warnings: readonly string[];
}

export interface Examined {
  readonly chainId: number;
  readonly name: string;
  readonly endpoints: readonly EndpointFacts[];
  readonly portal: PortalFacts | undefined;
  readonly hasWebsocket: boolean;
  readonly deployed: Deployed;
  readonly historyDays: number;
  /** Infinity = all. */
  readonly rawDays: number;
}

/** Ranges up to this many blocks make a scan of a whole chain expensive. */
const SHORT_RANGE = 1_000;
const DAYS_A_MONTH = 30;

/** Pure. The first endpoint that answers is the one that is asked: requests go to the others when it fails. */
export function diagnose(examined: Examined): Diagnosis {
  const { chainId, endpoints, portal, deployed, historyDays, rawDays } = examined;
  const used = endpoints.find(({ failure }) => failure === undefined);
  const about = { ...pick(examined), historyDays };
  const unusable = endpoints.flatMap(({ host, failure }) =>
    failure === undefined ? [] : [`${host} is of no use: ${failure}.`],
  );
  if (used === undefined) {
    const nothing = { estimate: undefined, provider: undefined, plan: undefined };
    return { ...about, ...nothing, hours: { discovery: undefined, history: undefined }, warnings: unusable };
  }
  const model = chainModel(chainId);
  const measured = used.blockBytes === undefined ? model : { ...model, blockBytes: used.blockBytes };
  const means: Means = {
    // A node that serves no range at all is asked block by block.
    maxBlocks: used.maxBlocks === 0 ? 1 : used.maxBlocks,
    hasPortal: portal?.finalBlock !== undefined,
    bytesASecond: used.bytesASecond,
  };
  const work = workOf(deployed, { head: used.head, historyDays, rawDays });
  const estimated = estimate(work, { means, model: measured });
  const provider = findProvider(used.host);
  const plan = provider && guessPlan(provider, used.maxBlocks);
  const limits = { means, provider, plan, latencyMs: used.latencyMs };
  const hours = {
    discovery: hoursOf(estimated.discovery, limits),
    history: hoursOf(estimated.history, limits),
  };
  const facts = { examined, used, estimated, means, provider, plan, hours };
  return { ...about, estimate: estimated, provider, plan, hours, warnings: [...warn(facts), ...unusable] };
}

function pick({ chainId, name, endpoints, portal, hasWebsocket }: Examined) {
  return { chainId, name, endpoints, portal, hasWebsocket };
}

function warn(facts: {
  examined: Examined;
  used: EndpointFacts;
  estimated: Estimate;
  means: Means;
  provider: Provider | undefined;
  plan: Plan | undefined;
  hours: Diagnosis["hours"];
}): string[] {
  const { examined, used, estimated, means, hours } = facts;
  const { chainId, portal, historyDays } = examined;
  const warnings: string[] = [];
  const { host, maxBlocks, limitWords, stateDays } = used;
  if (maxBlocks === 0)
    warnings.push(`${host} refuses eth_getLogs even for one block: ${limitWords ?? "no reason given"}`);
  else if (maxBlocks !== undefined && maxBlocks < SHORT_RANGE && !means.hasPortal) {
    const calls = formatAmount(countCalls(estimated.discovery.calls));
    const time = hours.discovery === undefined ? "" : ` and ${formatHours(hours.discovery)}`;
    warnings.push(
      `${host} serves ${maxBlocks} block${maxBlocks === 1 ? "" : "s"} an eth_getLogs: the discovery of all pools takes ${calls} calls${time}. ` +
        `A portal (EVM_PORTAL_${chainId}) or a file of known pools (npm run pools -- import FILE) spares most of it.`,
    );
  }
  if (portal !== undefined && portal.finalBlock === undefined)
    warnings.push(`The portal ${portal.host} does not answer: history would come by RPC.`);
  warnings.push(...warnOfPlan(facts));
  if (stateDays < historyDays)
    warnings.push(
      `${host} has the state of ${stateDays === 0 ? "the last blocks only" : `${stateDays} days`}, the index begins ${Math.ceil(historyDays)} days back: prices before a pool's first event will rest on its state at the head.`,
    );
  if (!used.hasReceipts)
    warnings.push(
      `${host} has no eth_getBlockReceipts: a block that seems to lack logs is asked for again and again instead.`,
    );
  return warnings;
}

function warnOfPlan({
  estimated,
  provider,
  plan,
}: {
  estimated: Estimate;
  provider: Provider | undefined;
  plan: Plan | undefined;
}): string[] {
  if (provider === undefined || plan?.unitsAMonth === undefined) return [];
  const { name, unit } = provider;
  const allowed = plan.unitsAMonth;
  const start = unitsOf(sum([estimated.discovery, estimated.history]).calls, provider);
  const month = unitsOf(estimated.day.calls, provider) * DAYS_A_MONTH;
  const limit = `the ${plan.name} plan of ${name} has ${formatAmount(allowed)} ${unit} a month`;
  const warnings: string[] = [];
  if (start > allowed)
    warnings.push(`A first start needs ${formatAmount(start)} ${unit}; ${limit}: it will not do.`);
  if (month > allowed)
    warnings.push(
      `Following the head needs ${formatAmount(month)} ${unit} a month; ${limit}: it will not do.`,
    );
  return warnings;
}

export function startCost({ discovery, history }: Estimate): Cost {
  return sum([discovery, history]);
}

/** Dollars of some units where the plan has a price. */
export function dollarsOf(
  cost: Cost,
  { provider, plan }: Pick<Diagnosis, "provider" | "plan">,
): number | undefined {
  const priced =
    plan?.usdAMillion ?? provider?.plans.find(({ usdAMillion }) => usdAMillion !== undefined)?.usdAMillion;
  return provider === undefined || priced === undefined
    ? undefined
    : (unitsOf(cost.calls, provider) / 1e6) * priced;
}

/** One or two lines for `npm start`, and the warnings. */
export function shortForm(diagnosis: Diagnosis): string[] {
  const { name, chainId, historyDays, estimate: estimated, hours, provider, warnings } = diagnosis;
  if (estimated === undefined) return warnings.map((warning) => `${name}: ${warning}`);
  const cost = startCost(estimated);
  const units =
    provider === undefined
      ? ""
      : ` (${formatAmount(unitsOf(cost.calls, provider))} ${provider.unit} of ${provider.name})`;
  const total =
    hours.discovery === undefined || hours.history === undefined
      ? undefined
      : hours.discovery + hours.history;
  const time = total === undefined ? "" : `, about ${formatHours(total)}`;
  const line =
    `${name}: a first start with ${formatAmount(historyDays)} days of history asks for ${formatAmount(countCalls(cost.calls))} calls${units} and ` +
    `${formatBytes(cost.bytes)} of JSON${time}, and takes ${formatBytes(estimated.diskBytes.history)} of disk ` +
    `(${formatBytes(estimated.diskBytes.afterAYear)} a year later); then ${formatAmount(countCalls(estimated.day.calls))} calls a day. ` +
    `npm run doctor -- --chain ${chainId} says more.`;
  return [line, ...warnings.map((warning) => `${name}: ${warning}`)];
}
