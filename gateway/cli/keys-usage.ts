import type { KeyRecord } from "../auth/keys/key-record.ts";
import { type DayUsage, groupUsageByDay } from "../auth/usage/by-day.ts";
import { DAY_MS } from "../auth/usage/usage-record.ts";
import type { UsageStore } from "../auth/usage/usage-store.ts";
import type { Clock } from "../request/clock.ts";
import { toJsonText, toMinute } from "./keys-print.ts";
import { formatTable } from "./text-table.ts";

interface UsageQuery {
  readonly records: readonly KeyRecord[];
  readonly days: number;
  readonly asJson: boolean;
  /** By day and endpoint, else one line per key. */
  readonly isSingleKey: boolean;
}

interface KeyTotal extends Pick<KeyRecord, "id" | "label" | "owner"> {
  readonly requests: number;
  readonly limited: number;
  readonly lastUsedAt: number | undefined;
}

/** Shows the usage of keys over the last UTC days including today, as written by running gateways. */
export async function showUsage(
  { records, days, asJson, isSingleKey }: UsageQuery,
  { usage, clock }: { readonly usage: UsageStore; readonly clock: Clock },
): Promise<string> {
  const fromDay = Math.floor(clock.nowMs() / DAY_MS) - days + 1;
  const [first] = records;
  if (isSingleKey && first !== undefined) {
    const byDay = groupUsageByDay(await usage.findByKey(first.id, fromDay));
    return asJson ? toJsonText({ id: first.id, label: first.label, days: byDay }) : dayTable(byDay);
  }
  const totals: KeyTotal[] = [];
  for (const { id, label, owner } of records) {
    const [total, lastUsedAt] = await Promise.all([usage.sumTotals(id, fromDay), usage.findLastUse(id)]);
    totals.push({ id, label, owner, ...total, lastUsedAt });
  }
  if (asJson) {
    const iso = (seconds: number | undefined) =>
      seconds === undefined ? null : new Date(seconds * 1000).toISOString();
    return toJsonText(totals.map((total) => ({ ...total, lastUsedAt: iso(total.lastUsedAt) })));
  }
  if (totals.length === 0) return "There are no keys yet.\n";
  const rows = totals.map(({ id, label, owner, requests, limited, lastUsedAt }) => [
    id,
    label,
    owner ?? "",
    String(requests),
    String(limited),
    lastUsedAt === undefined ? "" : toMinute(lastUsedAt),
  ]);
  return formatTable(["ID", "LABEL", "OWNER", "REQUESTS", "LIMITED", "LAST USED"], rows);
}

function dayTable(days: readonly DayUsage[]): string {
  if (days.length === 0) return "No requests in these days.\n";
  const rows = days.flatMap(({ day, endpoints, requests, limited }) => [
    ...endpoints.map((each) => [day, each.path, String(each.requests), String(each.limited)]),
    [day, "all", String(requests), String(limited)],
  ]);
  return formatTable(["DAY", "ENDPOINT", "REQUESTS", "LIMITED"], rows);
}
