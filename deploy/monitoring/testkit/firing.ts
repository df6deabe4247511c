/** For each alert, series (by minutes) on which it must fire, and similar ones on which it must not. */
interface Case {
  readonly alert: string;
  /** When both are looked at. */
  readonly after: string;
  readonly bad: Readonly<Record<string, string>>;
  readonly good: Readonly<Record<string, string>>;
}

const TABLE = 'service="gateway",route="/evm/dexb/v3/pool"';
const requests = (status: string) => `http_request_duration_seconds_count{${TABLE},status="${status}"}`;
const bucket = (le: string) => `http_request_duration_seconds_bucket{${TABLE},status="200",le="${le}"}`;
const INGEST = 'service="evm-dex-ingest",chain="8453"';

export const FIRING: readonly Case[] = [
  {
    alert: "ProcessAway",
    after: "10m",
    bad: { 'up{job="chaintables-gateway",instance="a"}': "0x20" },
    good: { 'up{job="chaintables-gateway",instance="a"}': "1x20", 'up{job="node",instance="a"}': "0x20" },
  },
  {
    alert: "ErrorRate",
    after: "20m",
    bad: { [requests("200")]: "0+980x30", [requests("503")]: "0+20x30" },
    // Clients' own faults, and five in a thousand of ours.
    good: { [requests("200")]: "0+900x30", [requests("404")]: "0+95x30", [requests("503")]: "0+5x30" },
  },
  {
    alert: "SlowAnswers",
    after: "30m",
    bad: { [bucket("1")]: "0+900x40", [bucket("2.5")]: "0+1000x40", [bucket("+Inf")]: "0+1000x40" },
    good: { [bucket("1")]: "0+995x40", [bucket("2.5")]: "0+1000x40", [bucket("+Inf")]: "0+1000x40" },
  },
  {
    alert: "NoReplica",
    after: "10m",
    bad: {
      'gateway_upstream_serving{upstream="dexa#0"}': "0x20",
      'gateway_upstream_serving{upstream="dexa#1"}': "0x20",
    },
    good: {
      'gateway_upstream_serving{upstream="dexa#0"}': "0x20",
      'gateway_upstream_serving{upstream="dexa#1"}': "1x20",
    },
  },
  {
    alert: "NoLeader",
    after: "10m",
    bad: { 'ingest_leader{lease="l",instance="a"}': "0x20", 'ingest_leader{lease="l",instance="b"}': "0x20" },
    good: {
      'ingest_leader{lease="l",instance="a"}': "0x20",
      'ingest_leader{lease="l",instance="b"}': "1x20",
    },
  },
  {
    alert: "NoHead",
    after: "20m",
    bad: { [`ingest_chain_head_block{${INGEST}}`]: "100x30" },
    good: { [`ingest_chain_head_block{${INGEST}}`]: "100+30x30" },
  },
  {
    alert: "IngestFailing",
    after: "10m",
    bad: { [`ingest_failing{${INGEST}}`]: "1x20" },
    good: { [`ingest_failing{${INGEST}}`]: "0 1 0 1 0 1 0 1 0 1 0 1" },
  },
  {
    alert: "Lag",
    after: "20m",
    bad: { [`ingest_lag_seconds{${INGEST}}`]: "90x30", [`ingest_progress_share{${INGEST}}`]: "1x30" },
    // A first read is behind by nature.
    good: { [`ingest_lag_seconds{${INGEST}}`]: "90000x30", [`ingest_progress_share{${INGEST}}`]: "0.4x30" },
  },
  {
    alert: "LagOfSolana",
    after: "20m",
    bad: { solana_lag_slots: "400x30", 'ingest_progress_share{chain="solana"}': "1x30" },
    good: { solana_lag_slots: "4x30", 'ingest_progress_share{chain="solana"}': "1x30" },
  },
  {
    alert: "Disagreement",
    after: "2h",
    bad: { 'solana_disagreements_total{program="p"}': "0+1x120" },
    good: { 'solana_disagreements_total{program="p"}': "5x120" },
  },
  {
    alert: "EndpointContradicts",
    after: "10m",
    bad: { 'rpc_faults_total{fault="contradicts",host="h",chain="1"}': "0+1x20" },
    good: { 'rpc_faults_total{fault="transient",host="h",chain="1"}': "0+1x20" },
  },
  {
    alert: "UnreadableEntities",
    after: "2h",
    bad: { 'lending_unreadable_entities{chain="8453",kind="reserve"}': "3x200" },
    good: { 'lending_unreadable_entities{chain="8453",kind="reserve"}': "0x200" },
  },
  {
    alert: "OpenPayments",
    after: "20m",
    bad: { 'gateway_payments_open{instance="a"}': "2x30" },
    // One that is known after five minutes.
    good: { 'gateway_payments_open{instance="a"}': "0x10 1x4 0x16" },
  },
  {
    alert: "FacilitatorAway",
    after: "20m",
    bad: { gateway_facilitator_usable: "0x30" },
    good: { gateway_facilitator_usable: "1x30" },
  },
  {
    alert: "WalletLow",
    after: "20m",
    bad: { 'gateway_facilitator_balance_ether{address="0x1"}': "0.0004x30" },
    good: { 'facilitator_balance_ether{address="0x1"}': "0.02x30" },
  },
  {
    alert: "DiskFilling",
    after: "8h",
    bad: { 'store_free_bytes{service="solana-ingest"}': "60000000000-20000000x600" },
    good: { 'store_free_bytes{service="solana-ingest"}': "60000000000-2000000x600" },
  },
  {
    alert: "RetentionStuck",
    after: "30h",
    bad: { [`ingest_retention_finished_seconds{${INGEST}}`]: "0x2000" },
    good: { [`ingest_retention_finished_seconds{${INGEST}}`]: "0+60x2000" },
  },
  {
    alert: "PricesStale",
    after: "20m",
    bad: { 'prices_up{chain="8453"}': "0x30" },
    good: { 'prices_up{chain="8453"}': "1x30" },
  },
  {
    alert: "HeadsUnread",
    after: "10m",
    bad: { 'head_seen_age_seconds{service="evm-dex",chain="8453"}': "0+60x20" },
    good: { 'head_seen_age_seconds{service="evm-dex",chain="8453"}': "0.1x20" },
  },
  {
    alert: "CacheAway",
    after: "20m",
    bad: { 'cache_up{service="evm-dex"}': "0x30" },
    good: { 'cache_up{service="evm-dex"}': "1x30" },
  },
];
