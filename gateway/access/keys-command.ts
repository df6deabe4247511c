import type { Clock } from "../clock.ts";
import { type KeyRecord, keyStateAt } from "./key-record.ts";
import type { KeyStore } from "./key-store.ts";
import { type KeysCommand, UsageError } from "./keys-arguments.ts";
import { formatTable } from "./text-table.ts";

export interface KeysCommandDeps {
  readonly keys: KeyStore;
  readonly clock: Clock;
}

/** Carries a command out; answers the text for stdout. Throws UsageError for an id no key has. */
export async function runKeysCommand(
  command: KeysCommand,
  { keys, clock }: KeysCommandDeps,
): Promise<string> {
  const nowSeconds = Math.floor(clock.nowMs() / 1000);
  switch (command.name) {
    case "create": {
      const { label, scopes, expiresInSeconds } = command;
      const expiry = expiresInSeconds === undefined ? {} : { expiresAt: nowSeconds + expiresInSeconds };
      const { key, record } = await keys.create({ label, scopes, ...expiry });
      return `${describeKeys([record], nowSeconds)}\nThe key, shown only now:\n\n  ${key}\n\nSend it in the header X-API-KEY.\n`;
    }
    case "list": {
      const records = await keys.list();
      if (command.asJson)
        return `${JSON.stringify(
          records.map((record) => toJson(record, nowSeconds)),
          null,
          2,
        )}\n`;
      return records.length === 0 ? "There are no keys yet.\n" : describeKeys(records, nowSeconds);
    }
    case "revoke": {
      const record = await keys.revoke(command.id);
      if (!record) throw new UsageError(`No key has the id ${JSON.stringify(command.id)}.`);
      return describeKeys([record], nowSeconds);
    }
  }
}

function describeKeys(records: readonly KeyRecord[], nowSeconds: number): string {
  const rows = records.map((record) => [
    record.id,
    record.label,
    keyStateAt(record, nowSeconds),
    record.scopes.join(","),
    toDate(record.createdAt),
    record.expiresAt === null ? "never" : toDate(record.expiresAt),
    record.revokedAt === null ? "" : toDate(record.revokedAt),
  ]);
  return formatTable(["ID", "LABEL", "STATE", "SCOPES", "CREATED", "EXPIRES", "REVOKED"], rows);
}

/** What a program gets: times as ISO 8601, the state worked out, and no hash. */
function toJson({ hash: _hash, ...record }: KeyRecord, nowSeconds: number) {
  const iso = (seconds: number | null) => (seconds === null ? null : new Date(seconds * 1000).toISOString());
  return {
    ...record,
    state: keyStateAt(record, nowSeconds),
    createdAt: iso(record.createdAt),
    expiresAt: iso(record.expiresAt),
    revokedAt: iso(record.revokedAt),
    suspendedAt: iso(record.suspendedAt),
  };
}

function toDate(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")}Z`;
}
