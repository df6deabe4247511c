/** The alerts of an installation: the source of the Prometheus rules, and of the paragraphs that the runbook must have. */
export interface Alert {
  /** Also the heading of its paragraph in docs/alerts.md. */
  readonly name: string;
  readonly expr: string;
  /** How long it must last. */
  readonly for: string;
  /** `page`: clients notice or will soon. `ticket`: in working hours. */
  readonly severity: "page" | "ticket";
  /** One line; may name labels. */
  readonly summary: string;
}

/** Answers of the gateway whose fault is ours: 408 is a deadline. */
const FAULTS = 'status=~"5..|408"';
const REQUESTS = "http_request_duration_seconds_count";
const TABLES = 'service="gateway",route=~"/(evm|api)/.*"';

export const ALERTS: readonly Alert[] = [
  {
    name: "ProcessAway",
    expr: 'up{job=~"chaintables.*"} == 0',
    for: "2m",
    severity: "page",
    summary: "{{ $labels.instance }} of {{ $labels.job }} gives no metrics",
  },
  {
    name: "ErrorRate",
    expr: `sum(rate(${REQUESTS}{${TABLES},${FAULTS}}[5m])) / sum(rate(${REQUESTS}{${TABLES}}[5m])) > 0.01`,
    for: "5m",
    severity: "page",
    summary: "{{ $value | humanizePercentage }} of the requests for tables fail",
  },
  {
    name: "SlowAnswers",
    expr: `histogram_quantile(0.99, sum by (le) (rate(http_request_duration_seconds_bucket{${TABLES}}[5m]))) > 1`,
    for: "10m",
    severity: "ticket",
    summary: "One request in a hundred takes more than {{ $value | humanizeDuration }}",
  },
  {
    name: "NoReplica",
    expr: 'max by (family) (label_replace(gateway_upstream_serving, "family", "$1", "upstream", "([^#]+)#.*")) == 0',
    for: "1m",
    severity: "page",
    summary: "No replica of {{ $labels.family }} serves",
  },
  {
    name: "NoLeader",
    expr: "max by (lease) (ingest_leader) == 0",
    for: "1m",
    severity: "page",
    summary: "Nobody holds the lease {{ $labels.lease }}: the chain is not indexed",
  },
  {
    name: "NoHead",
    expr: "changes(max by (chain, service) (ingest_chain_head_block)[5m:30s]) == 0",
    for: "2m",
    severity: "page",
    summary: "{{ $labels.service }} has seen no new head of chain {{ $labels.chain }} for minutes",
  },
  {
    name: "IngestFailing",
    expr: "max by (chain, service) (ingest_failing) == 1",
    for: "2m",
    severity: "page",
    summary: "{{ $labels.service }} of chain {{ $labels.chain }} fails and tries again",
  },
  {
    name: "Lag",
    expr: "max by (chain, service) (ingest_lag_seconds) > 60 and max by (chain, service) (ingest_progress_share) == 1",
    for: "5m",
    severity: "page",
    summary: "{{ $labels.service }} of chain {{ $labels.chain }} is {{ $value | humanizeDuration }} behind",
  },
  {
    name: "LagOfSolana",
    expr: 'max(solana_lag_slots) > 150 and on () max(ingest_progress_share{chain="solana"}) == 1',
    for: "5m",
    severity: "page",
    summary: "Solana's ingest is {{ $value }} slots behind",
  },
  {
    name: "Disagreement",
    expr: "sum by (program) (increase(solana_disagreements_total[1h])) > 10",
    for: "0m",
    severity: "ticket",
    summary: "{{ $labels.program }}: amounts disagree with the exchange's own events",
  },
  {
    name: "EndpointContradicts",
    expr: 'sum by (chain, host) (increase(rpc_faults_total{fault="contradicts"}[15m])) > 0',
    for: "0m",
    severity: "ticket",
    summary: "{{ $labels.host }} contradicts what is final on chain {{ $labels.chain }}",
  },
  {
    name: "UnreadableEntities",
    expr: "max by (chain, kind) (lending_unreadable_entities) > 0",
    for: "1h",
    severity: "ticket",
    summary: "{{ $value }} of lending's {{ $labels.kind }} cannot be read",
  },
  {
    name: "OpenPayments",
    expr: "max(gateway_payments_open) > 0",
    for: "10m",
    severity: "page",
    summary: "{{ $value }} payments have no known outcome",
  },
  {
    name: "FacilitatorAway",
    expr: "min(gateway_facilitator_usable) == 0",
    for: "5m",
    severity: "page",
    summary: "Payments are refused: the facilitator does not settle",
  },
  {
    name: "WalletLow",
    expr: "min by (address) (gateway_facilitator_balance_ether or facilitator_balance_ether) < 0.001",
    for: "5m",
    severity: "ticket",
    summary: "{{ $labels.address }} has {{ $value }} ether left for gas",
  },
  {
    name: "DiskFilling",
    expr: "min by (service) (store_free_bytes) < 5e9 or predict_linear(store_free_bytes[6h], 3 * 86400) < 0",
    for: "30m",
    severity: "page",
    summary: "The disk of {{ $labels.service }}'s store is full within three days",
  },
  {
    name: "RetentionStuck",
    expr: "time() - max by (chain, service) (ingest_retention_finished_seconds) > 86400",
    for: "1h",
    severity: "ticket",
    summary: "Old rows of chain {{ $labels.chain }} have not been removed for a day",
  },
  {
    name: "PricesStale",
    expr: "min by (chain) (prices_up) == 0",
    for: "5m",
    severity: "page",
    summary: "Lending has no prices of chain {{ $labels.chain }}: USD columns grow old, then null",
  },
  {
    name: "HeadsUnread",
    expr: "max by (service, chain) (head_seen_age_seconds) > 30",
    for: "1m",
    severity: "page",
    summary: "{{ $labels.service }} cannot read its store's head",
  },
  {
    name: "CacheAway",
    expr: "min by (service) (cache_up) == 0 or min by (service) (gateway_limiter_shared) == 0",
    for: "5m",
    severity: "ticket",
    summary: "{{ $labels.service }} works without Redis: limits are counted by each process",
  },
];
