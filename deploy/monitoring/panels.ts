/** A panel of a dashboard: a title, and a query for each line. */
export interface Panel {
  readonly title: string;
  /** Legend, as Grafana writes it, to PromQL. */
  readonly queries: Readonly<Record<string, string>>;
  readonly unit: "short" | "s" | "percentunit" | "bytes" | "reqps" | "none";
}

export interface Dashboard {
  readonly name: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const count = (by: string, where: string) =>
  `sum by (${by}) (rate(http_request_duration_seconds_count{${where}}[5m]))`;
const quantile = (q: number, where: string) =>
  `histogram_quantile(${q}, sum by (le) (rate(http_request_duration_seconds_bucket{${where}}[5m])))`;
const GATEWAY = 'service="gateway"';
const SERVICES = 'service=~"evm-dex|lending|solana"';

export const DASHBOARDS: readonly Dashboard[] = [
  {
    name: "gateway",
    title: "Gateway",
    panels: [
      { title: "Requests by status", unit: "reqps", queries: { "{{status}}": count("status", GATEWAY) } },
      { title: "Requests by route", unit: "reqps", queries: { "{{route}}": count("route", GATEWAY) } },
      {
        title: "Time to answer",
        unit: "s",
        queries: { p50: quantile(0.5, GATEWAY), p95: quantile(0.95, GATEWAY), p99: quantile(0.99, GATEWAY) },
      },
      {
        title: "Replicas that serve",
        unit: "none",
        queries: { "{{upstream}}": "min by (upstream) (gateway_upstream_serving)" },
      },
      {
        title: "Requests at replicas",
        unit: "short",
        queries: { "{{upstream}}": "sum by (upstream) (gateway_upstream_in_flight)" },
      },
      {
        title: "Breakers open",
        unit: "none",
        queries: { "{{upstream}}": "max by (upstream) (gateway_upstream_breaker_open)" },
      },
      {
        title: "Response cache",
        unit: "reqps",
        queries: { "{{result}}": "sum by (result) (rate(gateway_cache_answers_total[5m]))" },
      },
      {
        title: "Memory of the response cache",
        unit: "bytes",
        queries: { bytes: "sum(gateway_cache_bytes)" },
      },
      {
        title: "Live streams",
        unit: "short",
        queries: {
          "streams open": "sum(gateway_live_streams)",
          "tables followed": "sum(gateway_live_tables)",
        },
      },
      {
        title: "Live: clients that do not read",
        unit: "reqps",
        queries: { "snapshots in place of changes": "sum(rate(gateway_live_slow_total[5m]))" },
      },
      {
        title: "Heads told to gateways",
        unit: "reqps",
        queries: { "{{family}}": "sum by (family) (rate(gateway_heads_told_total[5m]))" },
      },
      {
        title: "Limits",
        unit: "reqps",
        queries: {
          "{{kind}} {{outcome}}": "sum by (kind, outcome) (rate(gateway_limit_decisions_total[5m]))",
        },
      },
      {
        title: "Limits without Redis",
        unit: "reqps",
        queries: { fallbacks: "sum(rate(gateway_limiter_fallbacks_total[5m]))" },
      },
    ],
  },
  {
    name: "chains",
    title: "Chains",
    panels: [
      {
        title: "Lag",
        unit: "s",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (ingest_lag_seconds)" },
      },
      { title: "Lag of Solana in slots", unit: "short", queries: { slots: "max(solana_lag_slots)" } },
      {
        title: "Head of the chain",
        unit: "none",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (ingest_chain_head_block)" },
      },
      {
        title: "Blocks indexed a second",
        unit: "short",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (deriv(ingest_indexed_block[5m]))" },
      },
      {
        title: "Age of the head that services answer from",
        unit: "s",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (head_seen_age_seconds)" },
      },
      {
        title: "Calls to endpoints",
        unit: "reqps",
        queries: { "{{host}} {{method}}": "sum by (host, method) (rate(rpc_calls_total[5m]))" },
      },
      {
        title: "Faults of endpoints",
        unit: "reqps",
        queries: { "{{host}} {{fault}}": "sum by (host, fault) (rate(rpc_faults_total[5m]))" },
      },
      {
        title: "Time of requests to endpoints, p95",
        unit: "s",
        queries: {
          "{{host}}":
            "histogram_quantile(0.95, sum by (le, host) (rate(rpc_request_duration_seconds_bucket[5m])))",
        },
      },
    ],
  },
  {
    name: "ingest",
    title: "Ingest",
    panels: [
      { title: "Leader", unit: "none", queries: { "{{lease}} {{instance}}": "ingest_leader" } },
      {
        title: "Changes of the leader",
        unit: "none",
        queries: { "{{lease}}": "max by (lease) (ingest_lease_token)" },
      },
      {
        title: "Fails",
        unit: "none",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (ingest_failing)" },
      },
      {
        title: "First read, share done",
        unit: "percentunit",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (ingest_progress_share)" },
      },
      {
        title: "First read, time left",
        unit: "s",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (ingest_eta_seconds)" },
      },
      {
        title: "History, time left",
        unit: "s",
        queries: { "{{service}} {{chain}}": "max by (service, chain) (ingest_history_eta_seconds)" },
      },
      {
        title: "History, days covered",
        unit: "s",
        queries: {
          "{{service}} {{chain}}": "time() - min by (service, chain) (ingest_history_from_seconds)",
        },
      },
      {
        title: "Rows of Solana",
        unit: "short",
        queries: { "{{list}}": "sum by (list) (rate(solana_rows_total[5m]))" },
      },
      {
        title: "Disagreements of Solana",
        unit: "short",
        queries: {
          "{{program}}": "sum by (program) (increase(solana_disagreements_total[1h]))",
          undecoded: "sum(increase(solana_decode_failures_total[1h]))",
        },
      },
      {
        title: "Forks of Solana",
        unit: "short",
        queries: { forks: "sum(increase(solana_forks_total[1h]))" },
      },
      {
        title: "A pass of lending, p95",
        unit: "s",
        queries: {
          "{{chain}}": "histogram_quantile(0.95, sum by (le, chain) (rate(lending_pass_seconds_bucket[5m])))",
        },
      },
      {
        title: "Entities of lending that cannot be read",
        unit: "short",
        queries: { "{{kind}}": "max by (kind) (lending_unreadable_entities)" },
      },
    ],
  },
  {
    name: "payments",
    title: "Payments",
    panels: [
      {
        title: "Requests by outcome",
        unit: "reqps",
        queries: { "{{outcome}}": "sum by (outcome) (rate(gateway_payments_total[5m]))" },
      },
      { title: "Open payments", unit: "short", queries: { open: "max(gateway_payments_open)" } },
      {
        title: "Time to settle, p95",
        unit: "s",
        queries: {
          p95: "histogram_quantile(0.95, sum by (le) (rate(gateway_payment_settlement_seconds_bucket[15m])))",
        },
      },
      { title: "Facilitator settles", unit: "none", queries: { usable: "min(gateway_facilitator_usable)" } },
      {
        title: "Ether for gas",
        unit: "none",
        queries: {
          "{{address}}": "min by (address) (gateway_facilitator_balance_ether or facilitator_balance_ether)",
        },
      },
      {
        title: "Settlements of the built-in facilitator",
        unit: "reqps",
        queries: { "{{outcome}}": "sum by (outcome) (rate(facilitator_settlements_total[5m]))" },
      },
    ],
  },
  {
    name: "stores",
    title: "Stores and processes",
    panels: [
      { title: "Stored", unit: "bytes", queries: { "{{service}}": "max by (service) (store_bytes)" } },
      {
        title: "Left on the disk",
        unit: "bytes",
        queries: { "{{service}}": "min by (service) (store_free_bytes)" },
      },
      {
        title: "Old rows gone up to, age",
        unit: "s",
        queries: {
          "{{service}} {{chain}}": "time() - max by (service, chain) (ingest_retention_finished_seconds)",
        },
      },
      { title: "Redis answers", unit: "none", queries: { "{{service}}": "min by (service) (cache_up)" } },
      {
        title: "Where pools are read from",
        unit: "reqps",
        queries: { "{{source}}": "sum by (source) (rate(pool_reads_total[5m]))" },
      },
      { title: "Time of services to answer, p95", unit: "s", queries: { p95: quantile(0.95, SERVICES) } },
      {
        title: "Memory",
        unit: "bytes",
        queries: { "{{service}} {{instance}}": "process_resident_memory_bytes" },
      },
      {
        title: "CPU",
        unit: "percentunit",
        queries: { "{{service}} {{instance}}": "rate(process_cpu_seconds_total[5m])" },
      },
      {
        title: "Event loop, p99",
        unit: "s",
        queries: { "{{service}} {{instance}}": "nodejs_eventloop_lag_p99_seconds" },
      },
      { title: "Open files", unit: "short", queries: { "{{service}} {{instance}}": "process_open_fds" } },
    ],
  },
];
