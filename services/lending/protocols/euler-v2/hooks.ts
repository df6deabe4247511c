import { readBool, readInt } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader } from "../protocol.ts";
import { contractAt } from "./calls.ts";

/** Operations that a vault's governor can hook. Source: Euler Vault Kit, Constants. */
const OPERATIONS = { deposit: 1 << 0, withdraw: 1 << 2, borrow: 1 << 6 };
/** Checked at the end of every operation, whichever it is. maxDeposit() does not know of it. */
const VAULT_STATUS_CHECK = 1 << 14;

export type HookedOperation = keyof typeof OPERATIONS;

export type Hooks = {
  /** The zero address: hooked operations are disabled. */
  readonly hookTarget: string;
  /** Bit mask of the operations that call `hookTarget` first. */
  readonly hookedOps: number;
  /** Hooked operations that the target refused when the vault was read. */
  readonly refused: readonly HookedOperation[];
};

/** Whether a transaction of an account without special rights would fail in a hook. */
export function isRefused({ hookTarget, hookedOps, refused }: Hooks, operation: HookedOperation): boolean {
  if (!isHooked(hookedOps, operation)) return false;
  // States of an index that an earlier version made do not say what was refused.
  return BigInt(hookTarget) === 0n || (refused ?? []).includes(operation);
}

function isHooked(hookedOps: number, operation: HookedOperation): boolean {
  return (hookedOps & (OPERATIONS[operation] | VAULT_STATUS_CHECK)) !== 0;
}

/**
 * Tries the operations that have a hook with a target, each of nothing: the vault then calls its hooks and checks its
 * status as always, but moves no tokens. A loan needs the vault as the account's controller first: both are simulated by
 * the Ethereum Vault Connector.
 */
export async function tryHooked(
  vault: Hex,
  { hookTarget, hookedOps }: Pick<Hooks, "hookTarget" | "hookedOps">,
  reader: ContractReader,
): Promise<HookedOperation[]> {
  if (BigInt(hookTarget) === 0n) return [];
  const { caller } = reader;
  const contract = contractAt(reader, vault);
  const attempts: Record<HookedOperation, () => Promise<boolean>> = {
    deposit: async () => (await contract.tryCall("deposit(uint256,address)", [0, caller])) !== null,
    withdraw: async () =>
      (await contract.tryCall("withdraw(uint256,address,address)", [0, caller, caller])) !== null,
    borrow: async () => {
      const connector = await contract.address("EVC()");
      const returned = await reader.call(connector, loanOf(connector, { vault, caller }));
      return returned !== null && isAccepted(returned);
    },
  };
  const operations = (Object.keys(OPERATIONS) as HookedOperation[]).filter((each) =>
    isHooked(hookedOps, each),
  );
  const results = await Promise.all(operations.map((each) => attempts[each]()));
  return operations.filter((_, i) => !results[i]);
}

const BATCH_SIMULATION = "7f17c377";
const ENABLE_CONTROLLER = "c368516c";
const BORROW = "4b3fd148";

/** EVC.batchSimulation of enableController(caller, vault) on the connector itself, and of borrow(0, caller) on the vault. */
function loanOf(connector: Hex, { vault, caller }: { vault: Hex; caller: Hex }): Hex {
  const word = (value: Hex | bigint | number) => BigInt(value).toString(16).padStart(64, "0");
  const item = (target: Hex, onBehalfOf: Hex | 0, data: string) => {
    const padded = data.padEnd(Math.ceil(data.length / 64) * 64, "0");
    return [target, onBehalfOf, 0, 128, data.length / 2].map(word).join("") + padded;
  };
  const first = item(connector, 0, ENABLE_CONTROLLER + word(caller) + word(vault));
  const second = item(vault, caller, BORROW + word(0) + word(caller));
  const offsets = word(64) + word(64 + first.length / 2);
  return `0x${BATCH_SIMULATION}${word(32)}${word(2)}${offsets}${first}${second}`;
}

/** Whether every call succeeded, and every check of an account or a vault after them. */
function isAccepted(data: Hex): boolean {
  // Three arrays of dynamic structs: { bool success, bytes }, then { address, bool isValid, bytes } twice.
  return [0, 1, 1].every((flag, list) => {
    const start = readInt(data, list) / 32;
    const length = readInt(data, start);
    return Array.from({ length }, (_, i) => start + 1 + readInt(data, start + 1 + i) / 32).every((struct) =>
      readBool(data, struct + flag),
    );
  });
}
