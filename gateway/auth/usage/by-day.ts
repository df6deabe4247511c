import { toDate, type UsageRow } from "./usage-record.ts";

interface EndpointUsage {
  readonly path: string;
  readonly requests: number;
  readonly limited: number;
}

export interface DayUsage {
  /** `2026-05-01`. */
  readonly day: string;
  readonly requests: number;
  readonly limited: number;
  readonly endpoints: readonly EndpointUsage[];
}

/** Groups rows of one key, from all gateways, by day and endpoint: the latest day first, endpoints by path. Pure. */
export function groupUsageByDay(rows: readonly UsageRow[]): DayUsage[] {
  const days = new Map<number, Map<string, EndpointUsage>>();
  for (const { day, endpoint, requests, limited } of rows) {
    const ofDay: Map<string, EndpointUsage> = days.get(day) ?? new Map();
    days.set(day, ofDay);
    const sum = ofDay.get(endpoint);
    ofDay.set(endpoint, {
      path: endpoint,
      requests: (sum?.requests ?? 0) + requests,
      limited: (sum?.limited ?? 0) + limited,
    });
  }
  return [...days]
    .sort(([a], [b]) => b - a)
    .map(([day, byEndpoint]) => {
      const endpoints = [...byEndpoint.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
      const total = (field: "requests" | "limited") => endpoints.reduce((sum, each) => sum + each[field], 0);
      return { day: toDate(day), requests: total("requests"), limited: total("limited"), endpoints };
    });
}
