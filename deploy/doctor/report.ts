import { PROVIDERS_DATE } from "./data.ts";
import { type Diagnosis, dollarsOf, startCost } from "./diagnosis.ts";
import { type Cost, countCalls, unitsOf } from "./estimate.ts";
import { formatAmount, formatBytes, formatHours } from "./format.ts";
import type { EndpointFacts } from "./probe.ts";

/** The long form, for `npm run doctor`. */
export function report(diagnosis: Diagnosis): string {
  const { name, chainId, endpoints, portal, hasWebsocket, warnings } = diagnosis;
  return [
    `${name} (chain ${chainId})`,
    "",
    ...endpoints.flatMap(describeEndpoint),
    `  websocket  ${hasWebsocket ? "announces new blocks" : `none in EVM_RPC_${chainId}: the head is polled`}`,
    `  portal     ${describePortal(portal, chainId)}`,
    "",
    ...describeCosts(diagnosis),
    ...warnings.map((warning) => `  ! ${warning}`),
    ...(warnings.length === 0 ? ["  Nothing stands against a start."] : []),
    "",
  ].join("\n");
}

function describeEndpoint(facts: EndpointFacts): string[] {
  if (facts.failure !== undefined) return [`  ${facts.host}`, `    fails        ${facts.failure}`];
  const { maxBlocks, limitWords, stateDays } = facts;
  const words = limitWords === undefined ? "" : ` ("${limitWords.slice(0, 120)}")`;
  const rows: readonly (readonly [string, string])[] = [
    ["head", `${formatAmount(facts.head)}, ${Math.round(facts.latencyMs)} ms a question`],
    [
      "speed",
      facts.bytesASecond === undefined
        ? "not measured: it gave no full block"
        : `${formatBytes(facts.bytesASecond)}/s, ${formatBytes(facts.blockBytes as number)} a block`,
    ],
    [
      "eth_getLogs",
      maxBlocks === undefined ? "100,000 blocks and more" : `${formatAmount(maxBlocks)} blocks${words}`,
    ],
    ["state", describeState(stateDays)],
    ["batch", facts.maxBatch === 1 ? "single calls only" : `${facts.maxBatch} calls`],
    ["receipts", facts.hasReceipts ? "yes" : "no eth_getBlockReceipts"],
    ["finality", facts.hasFinalizedTag ? "knows the tag finalized" : "no tag finalized: depth decides"],
    ...(facts.isRateLimited ? [["rate", "limited, by these few questions already"] as const] : []),
  ];
  return [`  ${facts.host}`, ...rows.map(([label, text]) => `    ${label.padEnd(12)} ${text}`)];
}

function describeState(days: number): string {
  if (days === Number.POSITIVE_INFINITY) return "archive";
  return days === 0 ? "less than a day" : `${days} days or more`;
}

function describePortal(portal: Diagnosis["portal"], chainId: number): string {
  if (portal === undefined) return `none (EVM_PORTAL_${chainId}): history comes by RPC`;
  return portal.finalBlock === undefined
    ? `${portal.host} does not answer`
    : `${portal.host}, final up to block ${formatAmount(portal.finalBlock)}`;
}

function describeCosts(diagnosis: Diagnosis): string[] {
  const { estimate, provider, plan, hours, historyDays } = diagnosis;
  if (estimate === undefined) return [];
  const unit = provider?.unit ?? "";
  const row = (label: string, cost: Cost, time: number | undefined) =>
    [
      `  ${label.padEnd(22)}`,
      formatAmount(countCalls(cost.calls)).padStart(10),
      ...(provider === undefined ? [] : [formatAmount(unitsOf(cost.calls, provider)).padStart(12)]),
      formatBytes(cost.bytes).padStart(10),
      (time === undefined ? "" : formatHours(time)).padStart(10),
    ].join(" ");
  const start = startCost(estimate);
  const total =
    hours.discovery === undefined || hours.history === undefined
      ? undefined
      : hours.discovery + hours.history;
  const dollars = dollarsOf(start, diagnosis);
  const perDay = dollarsOf(estimate.day, diagnosis);
  return [
    [
      `  ${"".padEnd(22)}`,
      "calls".padStart(10),
      ...(provider ? [unit.padStart(12)] : []),
      "JSON".padStart(10),
      "time".padStart(10),
    ].join(" "),
    row("known pools, markets", estimate.discovery, hours.discovery),
    row(`history, ${formatAmount(historyDays)} days`, estimate.history, hours.history),
    row("first start", start, total),
    row("each further day", estimate.day, undefined),
    "",
    `  disk: ${formatBytes(estimate.diskBytes.history)} for the history, ${formatBytes(estimate.diskBytes.afterAYear)} a year later`,
    ...(provider === undefined
      ? []
      : [
          `  ${provider.name}, by its limit the ${plan?.name ?? "unknown"} plan; weights of ${PROVIDERS_DATE}, ${provider.basis}: ${provider.source}`,
        ]),
    ...(dollars === undefined || perDay === undefined
      ? []
      : [`  at its price by use: $${dollars.toFixed(2)} once, $${perDay.toFixed(2)} a day`]),
    "",
  ];
}
