import { readInstructionData } from "../../../../services/solana/chain/instruction-data.ts";
import type { SolanaInstruction, SolanaTransaction } from "../../../../services/solana/chain/port.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";

/** An instruction as a reader of the chain sees it. */
export interface Step {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Buffer;
  readonly depth: number;
}

export function keysOf({ transaction, meta }: SolanaTransaction): string[] {
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
  return [...transaction.message.accountKeys, ...writable, ...readonly];
}

/** All instructions in the order of execution. */
export function stepsOf(transaction: SolanaTransaction): Step[] {
  const keys = keysOf(transaction);
  const inner = new Map(
    transaction.meta?.innerInstructions?.map(({ index, instructions }) => [index, instructions]),
  );
  const read = ({ programIdIndex, accounts, data, stackHeight }: SolanaInstruction): Step => ({
    program: keys[programIdIndex] ?? "",
    accounts: accounts.map((index) => keys[index] ?? ""),
    data: Buffer.from(readInstructionData({ data }) ?? []),
    depth: stackHeight ?? 0,
  });
  return transaction.transaction.message.instructions.flatMap((instruction, index) => [
    read(instruction),
    ...(inner.get(index) ?? []).map(read),
  ]);
}

const SYSTEM = "11111111111111111111111111111111";
const WRAPPED_SOL = "So11111111111111111111111111111111111111112";
const RENT = 2_039_280n;

/** Half a percent of every transfer, at most 5,000 whole ones: the devnet's one mint with a fee. */
function feeOf(amount: bigint): bigint {
  const fee = (amount * 50n + 9_999n) / 10_000n;
  return fee < 5_000_000_000n ? fee : 5_000_000_000n;
}

/**
 * What token accounts hold after a transaction, from what they held before it and the token program's instructions in
 * it: by address, those that exist. `tolled` are the mints that take a fee.
 */
export function replayTokens(transaction: SolanaTransaction, tolled: readonly string[]): Map<string, bigint> {
  const keys = keysOf(transaction);
  const amounts = new Map<string, bigint>();
  const mints = new Map<string, string>();
  const lamports = new Map(keys.map((key, i) => [key, BigInt(transaction.meta?.preBalances[i] ?? 0)]));
  for (const { accountIndex, mint, uiTokenAmount } of transaction.meta?.preTokenBalances ?? []) {
    amounts.set(keys[accountIndex] ?? "", BigInt(uiTokenAmount.amount));
    mints.set(keys[accountIndex] ?? "", mint);
  }
  const add = (map: Map<string, bigint>, address: string, amount: bigint) =>
    map.set(address, (map.get(address) ?? 0n) + amount);

  function move(from: string, to: string, amount: bigint): void {
    const mint = mints.get(from) ?? "";
    add(amounts, from, -amount);
    add(amounts, to, tolled.includes(mint) ? amount - feeOf(amount) : amount);
    if (mint !== WRAPPED_SOL) return;
    add(lamports, from, -amount);
    add(lamports, to, amount);
  }

  function runToken({ accounts: [a = "", b = "", c = ""], data }: Step): void {
    const amount = () => data.readBigUInt64LE(1);
    if (data[0] === 3) move(a, b, amount());
    if (data[0] === 12) move(a, c, amount());
    if (data[0] === 7) add(amounts, b, amount());
    if (data[0] === 8) add(amounts, a, -amount());
    if (data[0] === 9) amounts.delete(a);
    if (data[0] === 17) amounts.set(a, (lamports.get(a) ?? 0n) - RENT);
    if (data[0] === 18) {
      amounts.set(a, 0n);
      mints.set(a, b);
    }
  }

  for (const step of stepsOf(transaction)) {
    if (step.program === TOKEN_PROGRAM || step.program === TOKEN_2022_PROGRAM) runToken(step);
    if (step.program !== SYSTEM) continue;
    const [from = "", to = ""] = step.accounts;
    add(lamports, from, -step.data.readBigUInt64LE(4));
    add(lamports, to, step.data.readBigUInt64LE(4));
  }
  return amounts;
}
