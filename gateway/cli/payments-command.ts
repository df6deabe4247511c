import type { Ledger } from "../payments/ledger/ledger.ts";
import type { PaymentRecord } from "../payments/ledger/payment-record.ts";
import type { PaymentsCommand } from "./payments-arguments.ts";
import { formatTable } from "./text-table.ts";

/** Decimals of USDC. */
const DECIMALS = 6;

/** Runs a command; returns the text for stdout. */
export async function runPaymentsCommand(
  { state, limit, asJson }: PaymentsCommand,
  ledger: Pick<Ledger, "list">,
): Promise<string> {
  const records = await ledger.list({ limit, state });
  if (asJson) return `${JSON.stringify(records.map(toJson), null, 2)}\n`;
  if (records.length === 0) return "There are no payments yet.\n";
  const rows = records.map((record) => [
    toDate(record.createdAt),
    record.state,
    toUsd(record.amount),
    record.payer,
    record.path,
    record.transaction ?? record.reason ?? "",
    isOwed(record) ? "owed" : record.deliveredAt === null ? "" : toDate(record.deliveredAt),
  ]);
  const settled = records.filter((record) => record.state === "settled");
  const total = settled.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const headings = ["TIME", "STATE", "USDC", "PAYER", "ENDPOINT", "TRANSACTION", "ANSWERED"];
  const owed = records.filter(isOwed).length;
  const summary = `${settled.length} of ${records.length} settled: ${toUsd(String(total))} USDC`;
  return `${formatTable(headings, rows)}\n${summary}${owed === 0 ? "" : `, ${owed} of them owed`}\n`;
}

/** Paid, but delivery is not certain. */
function isOwed({ state, deliveredAt }: PaymentRecord): boolean {
  return state === "settled" && deliveredAt === null;
}

/** The JSON form: times as ISO 8601, the amount in dollars and in the token's smallest unit. */
function toJson(record: PaymentRecord) {
  const { state, payer, amount, asset, network, payTo, path, resource, transaction, reason, session } =
    record;
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  return {
    time: iso(record.createdAt),
    state,
    payer,
    amountUsd: toUsd(amount),
    amount,
    asset,
    network,
    payTo,
    endpoint: path,
    resource,
    transaction,
    settledAt: iso(record.settledAt),
    answeredAt: iso(record.deliveredAt),
    owed: isOwed(record),
    reason,
    identifier: record.identifier,
    nonce: record.nonce,
    session,
  };
}

/** Exact: "50000" is 0.05. */
function toUsd(amount: string): string {
  const digits = amount.padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "");
  const whole = digits.slice(0, -DECIMALS);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

function toDate(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}
