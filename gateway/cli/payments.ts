/** `npm run payments`: lists the payments of the pay-per-request host. Exit code 2 = invalid arguments. */

import { sanitizeText } from "../../services/shared/logging/log.ts";
import { ConfigError } from "../../services/shared/settings/settings.ts";
import { findStoreConfig } from "../config.ts";
import { openStoredLedger } from "../payments/ledger/open-ledger.ts";
import { systemClock as clock } from "../request/clock.ts";
import { UsageError } from "./keys-values.ts";
import { PAYMENTS_USAGE, parsePaymentsCommand } from "./payments-arguments.ts";
import { runPaymentsCommand } from "./payments-command.ts";

try {
  const command = parsePaymentsCommand(process.argv.slice(2));
  if (command === "help") {
    process.stdout.write(PAYMENTS_USAGE);
  } else {
    const { note, ...store } = findStoreConfig(process.env);
    if (note !== undefined) process.stderr.write(`${note}\n`);
    const { ledger, close } = await openStoredLedger(store, { clock, answersKeptMs: 0 });
    try {
      process.stdout.write(await runPaymentsCommand(command, ledger));
    } finally {
      await close();
    }
  }
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof UsageError;
  // The store's own words may hold its address with credentials.
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${PAYMENTS_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
