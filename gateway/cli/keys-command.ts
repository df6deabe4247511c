import { FAMILIES, type KeyRecord } from "../auth/keys/key-record.ts";
import type { KeyChange } from "../auth/keys/key-rows.ts";
import type { KeyStore } from "../auth/keys/key-store.ts";
import type { UsageStore } from "../auth/usage/usage-store.ts";
import type { Clock } from "../request/clock.ts";
import type { KeyInput, KeysCommand } from "./keys-arguments.ts";
import { keyJson, keysTable, keyText, type ShownKey, toJsonText } from "./keys-print.ts";
import { showUsage } from "./keys-usage.ts";
import { UsageError } from "./keys-values.ts";

interface KeysCommandDeps {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  readonly clock: Clock;
  /** Publishes changed keys to running gateways. */
  readonly publish: (hashes: readonly string[]) => Promise<void>;
}

/** Runs a command; returns the text for stdout. Throws UsageError for an id no key has, InvalidKeyChange as KeyStore. */
export async function runKeysCommand(command: KeysCommand, deps: KeysCommandDeps): Promise<string> {
  const { keys, clock, publish } = deps;
  const nowSeconds = Math.floor(clock.nowMs() / 1000);
  const show = (shown: readonly ShownKey[]) => keysTable(shown, nowSeconds);

  const changed = async (record: KeyRecord | undefined, id: string): Promise<string> => {
    const found = known(record, id);
    await publish([found.hash]);
    return command.asJson ? toJsonText(keyJson({ record: found }, nowSeconds)) : show([{ record: found }]);
  };

  switch (command.name) {
    case "create": {
      const { label, scopes = FAMILIES, ...input } = command.input;
      const { key, record } = await keys.create({ ...toChange(input, nowSeconds), label, scopes });
      await publish([record.hash]);
      if (command.asJson) return toJsonText({ key, ...keyJson({ record }, nowSeconds) });
      return show([{ record }]) + keyText(key);
    }
    case "list": {
      const all = await keys.list();
      const wanted = all.filter(({ owner }) => command.owner === undefined || owner === command.owner);
      const shown = await withLastUse(wanted, deps.usage);
      if (command.asJson) return toJsonText(shown.map((each) => keyJson(each, nowSeconds)));
      return shown.length === 0 ? "There are no keys yet.\n" : show(shown);
    }
    case "set":
      return changed(await keys.change(command.id, toChange(command.input, nowSeconds)), command.id);
    case "rotate": {
      const { id, overlapSeconds } = command;
      const rotated = await keys.rotate(id, { overlapSeconds, ...toChange(command, nowSeconds) });
      const { key, record, old } = known(rotated, id);
      await publish([old.hash, record.hash]);
      if (command.asJson) {
        const [now, before] = [record, old].map((each) => keyJson({ record: each }, nowSeconds));
        return toJsonText({ key, ...now, rotated: before });
      }
      return show([{ record: old }, { record }]) + keyText(key);
    }
    case "suspend":
      return changed(await keys.suspend(command.id), command.id);
    case "resume":
      return changed(await keys.resume(command.id), command.id);
    case "revoke":
      return changed(await keys.revoke(command.id), command.id);
    case "usage": {
      const { id, days, asJson } = command;
      const records = id === undefined ? await keys.list() : [known(await keys.find(id), id)];
      return showUsage({ records, days, asJson, isSingleKey: id !== undefined }, deps);
    }
  }
}

function known<T>(found: T | undefined, id: string): T {
  if (found === undefined) throw new UsageError(`No key has the id ${JSON.stringify(id)}.`);
  return found;
}

function toChange(input: KeyInput, nowSeconds: number): KeyChange {
  const { label, owner, note, scopes, limits, expiresInSeconds } = input;
  return {
    ...(label !== undefined && { label }),
    ...(owner !== undefined && { owner }),
    ...(note !== undefined && { note }),
    ...(scopes !== undefined && { scopes }),
    ...(limits !== undefined && { limits }),
    ...(expiresInSeconds !== undefined && {
      expiresAt: expiresInSeconds === null ? null : nowSeconds + expiresInSeconds,
    }),
  };
}

/** Concurrent reads: more make a store no faster. */
const MAX_CONCURRENT = 20;

async function withLastUse(records: readonly KeyRecord[], usage: UsageStore): Promise<ShownKey[]> {
  const shown: ShownKey[] = [];
  for (let from = 0; from < records.length; from += MAX_CONCURRENT) {
    const part = records.slice(from, from + MAX_CONCURRENT);
    const times = await Promise.all(part.map(({ id }) => usage.findLastUse(id)));
    shown.push(...part.map((record, place) => ({ record, lastUsedAt: times[place] })));
  }
  return shown;
}
