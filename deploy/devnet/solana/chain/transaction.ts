import { encodeBase58 } from "../../../../services/shared/contract/base58.ts";
import type { SolanaInstruction } from "../../../../services/solana/chain/port.ts";
import { TOKEN_2022_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import type { ExpectedBalance, ExpectedEvent, ExpectedTransaction } from "../expected.ts";
import { deriveSignature } from "./addresses.ts";
import { type Caller, type Executed, execute, type Invocation, listInvocations } from "./execution.ts";
import { arrangeKeys, type Keys, type LookupTables } from "./keys.ts";
import type { Ledger, TokenAccount } from "./ledger.ts";
import { renderLogs } from "./logs.ts";

const LAMPORTS_PER_SIGNATURE = 5_000n;

export interface TransactionPlan {
  readonly feePayer: string;
  /** Wallets that sign beside the fee payer. */
  readonly signers?: readonly string[];
  readonly priorityFee?: bigint;
  /** Given = a version 0 transaction, whose accounts come from these tables where they can. */
  readonly tables?: LookupTables | undefined;
  readonly run: (caller: Caller) => void;
}

export interface World {
  readonly ledger: Ledger;
  readonly slot: number;
  /** Unix seconds. */
  readonly time: number;
  readonly recentBlockhash: string;
}

export interface MadeTransaction {
  /** As getBlock gives it with encoding "json". */
  readonly raw: unknown;
  /** Undefined where it failed. */
  readonly expected: Omit<ExpectedTransaction, "transactionIndex"> | undefined;
}

/** Runs a transaction and writes it down; `name` makes its signature. */
export function makeTransaction(world: World, name: string, plan: TransactionPlan): MadeTransaction {
  const { ledger } = world;
  ledger.lamports.watch();
  ledger.tokens.watch();
  const signers = [plan.feePayer, ...(plan.signers ?? []).filter((signer) => signer !== plan.feePayer)];
  const fee = LAMPORTS_PER_SIGNATURE * BigInt(signers.length) + (plan.priorityFee ?? 0n);
  ledger.addLamports(plan.feePayer, -fee);
  const executed = execute(world, plan.run);
  const keys = arrangeKeys(executed.instructions, signers, plan.tables);
  const tokens = listTokenAccounts(ledger, keys);
  const signatures = signers.map((_, i) => deriveSignature(name, i));
  const signature = signatures[0] as string;
  const raw = {
    transaction: { signatures, message: writeMessage(world, executed, keys) },
    meta: writeMeta(world, executed, { keys, fee, tokens }),
    version: plan.tables === undefined ? "legacy" : 0,
  };
  if (executed.failure !== undefined) return { raw, expected: undefined };
  const events = executed.expected as readonly ExpectedEvent[];
  return {
    raw,
    expected: { signature, feePayer: plan.feePayer, events, balances: listChanges(ledger, tokens) },
  };
}

function writeMessage(world: World, { instructions }: Executed, keys: Keys) {
  return {
    header: {
      numRequiredSignatures: keys.signatures,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: keys.readonlyUnsigned,
    },
    accountKeys: keys.fixed,
    recentBlockhash: world.recentBlockhash,
    instructions: instructions.map((invocation) => writeInstruction(invocation, keys, 1)),
    ...(keys.lookups !== undefined && { addressTableLookups: keys.lookups }),
  };
}

function writeInstruction(
  { program, accounts, data }: Invocation,
  keys: Keys,
  depth: number,
): SolanaInstruction {
  return {
    programIdIndex: keys.indexOf(program),
    accounts: accounts.map(({ address }) => keys.indexOf(address)),
    data: encodeBase58(data),
    stackHeight: depth,
  };
}

function writeMeta(
  world: World,
  executed: Executed,
  { keys, fee, tokens }: { keys: Keys; fee: bigint; tokens: readonly TokenAccountStates[] },
) {
  const { ledger } = world;
  const { instructions, failure } = executed;
  const err =
    failure === undefined ? null : { InstructionError: [failure.index, { Custom: failure.error.code }] };
  return {
    err,
    status: err === null ? { Ok: null } : { Err: err },
    fee: Number(fee),
    preBalances: keys.all.map((key) => toNumber(ledger.lamports.before(key))),
    postBalances: keys.all.map((key) => toNumber(ledger.lamports.get(key))),
    innerInstructions: instructions.flatMap((invocation, index) => {
      const inner = writeInner(invocation.body, keys, 2);
      return inner.length === 0 ? [] : [{ index, instructions: inner }];
    }),
    logMessages: renderLogs(executed),
    preTokenBalances: writeBalances(ledger, tokens, "before"),
    postTokenBalances: writeBalances(ledger, tokens, "after"),
    rewards: null,
    loadedAddresses: { writable: keys.loadedWritable, readonly: keys.loadedReadonly },
    computeUnitsConsumed: 4_500 * [...listInvocations(instructions)].length,
  };
}

function writeInner(body: Invocation["body"], keys: Keys, depth: number): SolanaInstruction[] {
  return body.flatMap((item) =>
    typeof item === "string"
      ? []
      : [writeInstruction(item, keys, depth), ...writeInner(item.body, keys, depth + 1)],
  );
}

function toNumber(lamports: bigint | undefined): number {
  return lamports === undefined ? 0 : Number(lamports);
}

/** Token accounts among the keys, as they were and as they are. */
function listTokenAccounts(ledger: Ledger, { all }: Keys): TokenAccountStates[] {
  const found: TokenAccountStates[] = [];
  for (const [accountIndex, address] of all.entries()) {
    const before = ledger.tokens.before(address);
    const after = ledger.tokens.get(address);
    const account = after ?? before;
    if (account !== undefined) found.push({ accountIndex, address, account, before, after });
  }
  return found;
}

interface TokenAccountStates {
  readonly accountIndex: number;
  readonly address: string;
  /** Whichever there is: mint and owner never change. */
  readonly account: TokenAccount;
  readonly before: TokenAccount | undefined;
  readonly after: TokenAccount | undefined;
}

function writeBalances(ledger: Ledger, states: readonly TokenAccountStates[], when: "before" | "after") {
  const balances: unknown[] = [];
  for (const { accountIndex, account, [when]: state } of states) {
    if (state === undefined) continue;
    const { decimals, program } = ledger.mint(account.mint);
    const amount = state.amount.toString();
    const uiAmount = Number(state.amount) / 10 ** decimals;
    balances.push({
      accountIndex,
      mint: account.mint,
      owner: account.owner,
      programId: program,
      uiTokenAmount: { amount, decimals, uiAmount, uiAmountString: String(uiAmount) },
    });
  }
  return balances;
}

function listChanges(ledger: Ledger, states: readonly TokenAccountStates[]): ExpectedBalance[] {
  return states.flatMap(({ address, account, before, after }) => {
    const amounts = { before: before?.amount ?? 0n, after: after?.amount ?? 0n };
    if (amounts.before === amounts.after) return [];
    const { decimals, program } = ledger.mint(account.mint);
    const { mint, owner } = account;
    return [
      {
        tokenAccount: address,
        mint,
        owner,
        decimals,
        isToken2022: program === TOKEN_2022_PROGRAM,
        ...amounts,
      },
    ];
  });
}
