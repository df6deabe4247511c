import { keysCollection } from "../../../gateway/auth/keys/key-record.ts";
import { usageCollection } from "../../../gateway/auth/usage/usage-record.ts";
import {
  janitorRoundsCollection,
  paidAnswersCollection,
  paymentsCollection,
} from "../../../gateway/payments/ledger/payment-record.ts";
import type { Store } from "../../../services/shared/storage/port.ts";
import type { Findings } from "../finding.ts";

export const KEYS = [keysCollection, usageCollection] as const;
/** There once the gateway has sold something. */
export const LEDGER = [paymentsCollection, paidAnswersCollection, janitorRoundsCollection] as const;

/** Payments of which nobody knows yet whether they were settled. */
export async function lookAtLedger(view: Store, findings: Findings): Promise<void> {
  findings.count("payments", await view.count(paymentsCollection, {}));
  const open = await view.count(paymentsCollection, { state: "open" });
  if (open > 0)
    findings.note("payments", {
      what: `${open} payments are open: it is not known yet whether the chain has them.`,
      todo: "Nothing while a gateway runs: its janitor asks the chain. npm run payments -- list shows them.",
    });
}
