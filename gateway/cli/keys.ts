/** `npm run keys`: manages API keys in the gateway's store. Exit code 2 = invalid arguments. */

import { sanitizeText } from "../../services/shared/logging/log.ts";
import { ConfigError } from "../../services/shared/settings/settings.ts";
import { publishKeyChanges } from "../auth/keys/key-changes.ts";
import { openAuthStores } from "../auth/open-stores.ts";
import { findStoreConfig, readRedisUrl } from "../config.ts";
import { systemClock as clock } from "../request/clock.ts";
import { parseKeysCommand } from "./keys-arguments.ts";
import { runKeysCommand } from "./keys-command.ts";
import { KEYS_USAGE } from "./keys-help.ts";
import { UsageError } from "./keys-values.ts";

async function publish(hashes: readonly string[]): Promise<void> {
  const redisUrl = readRedisUrl(process.env);
  if (redisUrl === undefined || (await publishKeyChanges(redisUrl, hashes))) return;
  process.stderr.write("Redis does not respond: gateways will notice within 10 seconds, not at once.\n");
}

try {
  const command = parseKeysCommand(process.argv.slice(2));
  if (command === "help") {
    process.stdout.write(KEYS_USAGE);
  } else {
    readRedisUrl(process.env);
    const { note, ...store } = findStoreConfig(process.env);
    if (note !== undefined) process.stderr.write(`${note}\n`);
    const { keys, usage, close } = await openAuthStores(store, clock);
    try {
      process.stdout.write(await runKeysCommand(command, { keys, usage, clock, publish }));
    } finally {
      await close();
    }
  }
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof UsageError;
  // The store's own words may hold its address with credentials.
  process.stderr.write(`${sanitizeText(message)}\n${isUsage ? `\n${KEYS_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
