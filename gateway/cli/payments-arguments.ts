import { parseArgs } from "node:util";
import type { PaymentState } from "../payments/ledger/payment-record.ts";
import { UsageError } from "./keys-values.ts";

export const PAYMENTS_USAGE = `Usage:
  npm run payments -- list [--state settled|owed|open|void] [--limit <n>] [--json]

list    shows payments, newest first: time, state, amount, payer, endpoint, transaction, time of delivery.
        settled: the chain has the transfer; owed: settled, and the response has not surely arrived, so the payer's next
        payment for the same URL is free; open: the outcome is not known yet; void: nothing was charged.
        --limit is 50 by default, 10000 at most.

The store is the one the gateway uses: MONGODB_URL, or the embedded database of the server on DATA_DIR.
`;

export interface PaymentsCommand {
  readonly name: "list";
  readonly state: PaymentState | "owed" | undefined;
  readonly limit: number;
  readonly asJson: boolean;
}

const STATES = ["settled", "owed", "open", "void"] as const satisfies readonly (PaymentState | "owed")[];

/** Parses the arguments of the program; "help" if they request it. Throws UsageError. */
export function parsePaymentsCommand(args: readonly string[]): PaymentsCommand | "help" {
  const [name, ...rest] = args;
  if (name === "help" || args.some((word) => word === "--help" || word === "-h")) return "help";
  if (name !== "list") {
    throw new UsageError(
      name === undefined ? "A command is needed." : `There is no command ${JSON.stringify(name)}.`,
    );
  }
  const { state, limit = "50", json = false } = readOptions(rest);
  if (state !== undefined && !STATES.some((known) => known === state))
    throw new UsageError(`--state takes ${STATES.join(", ")}, got ${JSON.stringify(state)}.`);
  const count = Number(limit);
  if (!/^[1-9]\d{0,4}$/.test(limit) || count > 10_000)
    throw new UsageError(`--limit takes an integer from 1 to 10000, got ${JSON.stringify(limit)}.`);
  return { name, state: state as PaymentsCommand["state"], limit: count, asJson: json };
}

function readOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      options: { state: { type: "string" }, limit: { type: "string" }, json: { type: "boolean" } },
      strict: true,
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
