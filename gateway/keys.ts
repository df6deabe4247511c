/** `npm run keys`: creates, lists and revokes API keys in the gateway's store. Exit code 2 = the call was wrong. */
import { ConfigError } from "../services/shared/host/config.ts";
import { redactText } from "../services/shared/host/log.ts";
import { KEYS_USAGE, parseKeysCommand, UsageError } from "./access/keys-arguments.ts";
import { runKeysCommand } from "./access/keys-command.ts";
import { openKeys } from "./access/open-keys.ts";
import { systemClock as clock } from "./clock.ts";
import { readStoreConfig } from "./config.ts";

try {
  const command = parseKeysCommand(process.argv.slice(2));
  if (command === "help") {
    process.stdout.write(KEYS_USAGE);
  } else {
    const { keys, close } = await openKeys(readStoreConfig(process.env), clock);
    try {
      process.stdout.write(await runKeysCommand(command, { keys, clock }));
    } finally {
      await close();
    }
  }
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const isUsage = error instanceof UsageError;
  // The store's own words may hold its address with credentials.
  process.stderr.write(`${redactText(message)}\n${isUsage ? `\n${KEYS_USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
