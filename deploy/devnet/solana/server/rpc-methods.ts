import type { Commitment } from "../../../../services/solana/chain/port.ts";
import { toBase64 } from "./account-data.ts";
import type { NodeChain } from "./node-chain.ts";

/** Thrown by a method: a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a node says of a slot without a block; null = it answers null. */
export type MissingCode = -32004 | -32007 | -32009 | null;

export interface HiddenBlocks {
  /** Slots whose blocks the node acts as if it did not have. */
  readonly hidden: ReadonlySet<number>;
  readonly missingCode: MissingCode;
}

type Params = readonly unknown[];
/** Returns JSON. */
type Method = (chain: NodeChain, params: Params, withheld: HiddenBlocks) => string;

const METHODS: Readonly<Record<string, Method>> = {
  getGenesisHash: (chain) => JSON.stringify(chain.genesisHash),
  getHealth: () => '"ok"',
  getVersion: () => JSON.stringify({ "solana-core": "2.3.0", "feature-set": 1 }),
  getSlot: (chain, [options]) => String(chain.head(readCommitment(options))),
  getFirstAvailableBlock: (chain) => String(chain.firstAvailable()),
  getBlock,
  getBlocks,
  getMultipleAccounts,
  getAccountInfo: (chain, [address, options]) =>
    renderInContext(chain, options, renderAccount(chain, checkAddress(address), options)),
  getTokenLargestAccounts,
  getProgramAccounts,
  getProgramAccountsV2,
};

/** JSON of the answer to one call; throws RpcError. */
export function callMethod(
  chain: NodeChain,
  call: { method: string; params: Params },
  withheld: HiddenBlocks,
): string {
  const method = METHODS[call.method];
  if (method === undefined) throw new RpcError(-32601, "Method not found");
  return method(chain, call.params, withheld);
}

function getBlock(chain: NodeChain, [slot, options]: Params, { hidden, missingCode }: HiddenBlocks): string {
  const wanted = checkSlot(slot);
  const { encoding, transactionDetails = "full", maxSupportedTransactionVersion } = readOptions(options);
  if (encoding !== undefined && encoding !== "json")
    throw new RpcError(-32602, `Invalid params: encoding ${String(encoding)} is not offered here`);
  if (wanted < chain.firstAvailable())
    throw new RpcError(
      -32001,
      `Block ${wanted} cleaned up, does not exist on node. First available block: ${chain.firstAvailable()}`,
    );
  if (wanted > chain.head(readCommitment(options)))
    throw new RpcError(-32004, `Block not available for slot ${wanted}`);
  const block = hidden.has(wanted) ? undefined : chain.block(wanted);
  if (block === undefined) return renderMissing(wanted, missingCode);
  if (transactionDetails === "none") return block.head;
  if (block.hasVersions && maxSupportedTransactionVersion === undefined)
    throw new RpcError(-32015, "Transaction version (0) is not supported by the requesting client.");
  return `${block.head.slice(0, -1)},"transactions":${block.transactions()}}`;
}

function renderMissing(slot: number, code: MissingCode): string {
  if (code === null) return "null";
  if (code === -32004) throw new RpcError(code, `Block not available for slot ${slot}`);
  const where = code === -32007 ? "due to ledger jump to recent snapshot" : "in long-term storage";
  throw new RpcError(code, `Slot ${slot} was skipped, or missing ${where}`);
}

const MOST_SLOTS = 500_000;

function getBlocks(chain: NodeChain, [from, to, options]: Params, { hidden }: HiddenBlocks): string {
  const start = checkSlot(from);
  const head = chain.head(readCommitment(typeof to === "number" ? options : (to ?? options)));
  const end = typeof to === "number" ? Math.min(checkSlot(to), head) : head;
  if (end - start > MOST_SLOTS) throw new RpcError(-32602, `Slot range too large; max ${MOST_SLOTS}`);
  return JSON.stringify(chain.produced(start, end).filter((slot) => !hidden.has(slot)));
}

function getMultipleAccounts(chain: NodeChain, [addresses, options]: Params): string {
  if (!Array.isArray(addresses)) throw new RpcError(-32602, "Invalid params: no list of addresses");
  if (addresses.length > 100) throw new RpcError(-32602, "Too many inputs provided; max 100");
  return renderInContext(
    chain,
    options,
    `[${addresses.map((address) => renderAccount(chain, checkAddress(address), options)).join(",")}]`,
  );
}

function renderAccount(chain: NodeChain, address: string, options: unknown): string {
  const { encoding } = readOptions(options);
  if (encoding !== "base64")
    throw new RpcError(-32602, `Invalid params: encoding ${String(encoding)} is not offered here`);
  const account = chain.accounts(readCommitment(options))?.account(address) ?? null;
  if (account === null) return "null";
  const { owner, lamports, data } = account;
  return JSON.stringify({
    data: [toBase64(data), "base64"],
    executable: false,
    lamports,
    owner,
    rentEpoch: 18446744073709552000,
    space: data.length,
  });
}

function getTokenLargestAccounts(chain: NodeChain, [mint, options]: Params): string {
  const largest = chain.accounts(readCommitment(options))?.largest(checkAddress(mint));
  if (largest === undefined) throw new RpcError(-32602, "Invalid param: not a Token mint");
  const values = largest.map(({ address, amount, decimals }) => {
    const uiAmount = Number(amount) / 10 ** decimals;
    return { address, amount: amount.toString(), decimals, uiAmount, uiAmountString: String(uiAmount) };
  });
  return renderInContext(chain, options, JSON.stringify(values));
}

/** Of a mint's token accounts alone, as their index gives them on nodes. */
function getProgramAccounts(chain: NodeChain, [program, options]: Params): string {
  const listed = listProgramAccounts(chain, checkAddress(program), options);
  return renderInContext(chain, options, `[${listed.map(({ json }) => json).join(",")}]`);
}

const MOST_IN_PAGE = 10_000;

/** The same by pages, as some providers offer it: the key of a page is the last address of the one before. */
function getProgramAccountsV2(chain: NodeChain, [program, options]: Params): string {
  const { limit = 1_000, paginationKey } = readOptions(options);
  if (typeof limit !== "number" || limit < 1 || limit > MOST_IN_PAGE)
    throw new RpcError(-32602, `Invalid params: limit ${String(limit)} is not from 1 to ${MOST_IN_PAGE}`);
  const listed = listProgramAccounts(chain, checkAddress(program), options).filter(
    ({ address }) => typeof paginationKey !== "string" || address > paginationKey,
  );
  const page = listed.slice(0, limit);
  const next = listed.length > limit ? (page.at(-1)?.address ?? null) : null;
  const accounts = page.map(({ json }) => json).join(",");
  return renderInContext(
    chain,
    options,
    `{"accounts":[${accounts}],"paginationKey":${JSON.stringify(next)}}`,
  );
}

function listProgramAccounts(
  chain: NodeChain,
  program: string,
  options: unknown,
): { address: string; json: string }[] {
  const { encoding, filters, dataSlice, minContextSlot = 0 } = readOptions(options);
  if (encoding !== "base64")
    throw new RpcError(-32602, `Invalid params: encoding ${String(encoding)} is not offered here`);
  if (Number(minContextSlot) > chain.head(readCommitment(options)))
    throw new RpcError(-32016, "Minimum context slot has not been reached");
  const all: readonly unknown[] = Array.isArray(filters) ? filters : [];
  const byMint = all.map((each) => readOptions(readOptions(each).memcmp)).find(({ offset }) => offset === 0);
  if (byMint === undefined)
    throw new RpcError(-32010, `${program} excluded from account secondary indexes; no mint is named`);
  const size = all.map((each) => readOptions(each).dataSize).find((each) => each !== undefined);
  const slice = readOptions(dataSlice);
  const offset = typeof slice.offset === "number" ? slice.offset : 0;
  const length = typeof slice.length === "number" ? slice.length : Number.POSITIVE_INFINITY;
  const accounts = chain.accounts(readCommitment(options));
  return (accounts?.ofMint(checkAddress(byMint.bytes)) ?? []).flatMap((address) => {
    const account = accounts?.account(address) ?? null;
    if (account === null || account.owner !== program) return [];
    const { owner, lamports, data } = account;
    if (size !== undefined && data.length !== size) return [];
    const part = toBase64(data.subarray(offset, offset + length));
    const rendered = { data: [part, "base64"], executable: false, lamports, owner, space: data.length };
    return [{ address, json: JSON.stringify({ pubkey: address, account: rendered }) }];
  });
}

function renderInContext(chain: NodeChain, options: unknown, value: string): string {
  return `{"context":{"slot":${chain.head(readCommitment(options))},"apiVersion":"2.3.0"},"value":${value}}`;
}

function readOptions(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** As nodes have it, `finalized` where nothing is said. */
function readCommitment(options: unknown): Commitment {
  const { commitment } = readOptions(options);
  return commitment === "confirmed" || commitment === "processed" ? "confirmed" : "finalized";
}

function checkSlot(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new RpcError(-32602, `Invalid params: invalid type: ${JSON.stringify(value)}, expected u64.`);
}

function checkAddress(value: unknown): string {
  if (typeof value === "string" && /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(value)) return value;
  throw new RpcError(-32602, "Invalid param: Invalid");
}
