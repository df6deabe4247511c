import { ReorgDetected } from "../../../shared/chain-errors.ts";
import { decodeDecimals, decodeText, encodeCall } from "../../../shared/evm/abi.ts";
import { MULTICALL3, Multicall } from "../../../shared/evm/multicall/multicall.ts";
import {
  BlockUnavailable,
  type EthCall,
  type EvmSource,
  type Hex,
  UpstreamError,
  withState,
} from "../../../shared/evm/port.ts";
import { type Clock, systemClock } from "../../../shared/rpc-client/endpoint/clock.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { TokenRow } from "../../store/collections.ts";
import { getTokens } from "../../store/queries.ts";

const SYMBOL = encodeCall("0x95d89b41");
const DECIMALS = encodeCall("0x313ce567");
/** Bounds memory on chains with hundreds of thousands of tokens; dropped ones are read from the store again. */
const MAX_TOKENS = 10_000;

/** What a node returns of an address without code. */
const NO_CODE = "0x";

/** A pool and the two tokens in it. */
export interface PoolTokens {
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
}

/**
 * Symbols and decimals of tokens: from memory, the store, or the contracts, which are read once. A token without
 * decimals() counts in raw units (0 decimals), one without symbol() has the symbol "".
 */
export class TokenReader {
  readonly #store: Store;
  readonly #source: EvmSource;
  readonly #read: ReadTokens;
  /** Stored ones. */
  readonly #known = new Map<string, TokenRow>();
  /** Of the contracts, and not seen in the store yet: whoever needs one writes it, for the one before may have failed. */
  readonly #fresh = new Map<string, TokenRow>();

  constructor(store: Store, source: EvmSource, read: ReadTokens = createHeadTokens(source)) {
    this.#store = store;
    this.#source = source;
    this.#read = read;
  }

  /**
   * All tokens of the pools, and those that the store does not have yet. Anyone may create a pool of tokens without code;
   * the pool, which has code at `block`, tells such a token from one that a node of another chain does not have.
   */
  async read(
    pools: readonly PoolTokens[],
    { block }: { readonly block: number },
  ): Promise<{ all: Map<string, TokenRow>; fresh: TokenRow[] }> {
    const chainId = this.#source.chainId;
    const poolOf = new Map<string, string>();
    for (const { pool, token0, token1 } of pools)
      for (const token of [token0, token1]) if (!poolOf.has(token)) poolOf.set(token, pool);
    this.#dropMany();
    const wanted = [...poolOf.keys()];
    const all = takeKnown(wanted, this.#known);
    const unknown = wanted.filter((address) => !all.has(address));
    for (const row of await getTokens(this.#store, { chainId, addresses: unknown })) {
      all.set(row.address, row);
      this.#known.set(row.address, row);
      this.#fresh.delete(row.address);
    }
    const unstored = unknown.filter((address) => !all.has(address));
    const fresh = takeKnown(unstored, this.#fresh);
    const unread = unstored.filter((address) => !fresh.has(address));
    for (const row of await this.#read(this.#source, unread, { block, poolOf })) {
      fresh.set(row.address, row);
      this.#fresh.set(row.address, row);
    }
    for (const row of fresh.values()) all.set(row.address, row);
    return { all, fresh: [...fresh.values()] };
  }

  #dropMany(): void {
    if (this.#known.size + this.#fresh.size < MAX_TOKENS) return;
    this.#known.clear();
    this.#fresh.clear();
  }
}

function takeKnown(
  addresses: readonly string[],
  known: ReadonlyMap<string, TokenRow>,
): Map<string, TokenRow> {
  const taken = new Map<string, TokenRow>();
  for (const address of addresses) {
    const row = known.get(address);
    if (row !== undefined) taken.set(address, row);
  }
  return taken;
}

/** Reads symbols and decimals from the contracts; `poolOf` has a pool of each token. */
export type ReadTokens = (
  source: EvmSource,
  addresses: readonly string[],
  at: { readonly block: number; readonly poolOf: ReadonlyMap<string, string> },
) => Promise<TokenRow[]>;

/** Two eth_calls a token. */
export const readTokens: ReadTokens = async (source, addresses, { block, poolOf }) => {
  if (addresses.length === 0) return [];
  const calls = addresses.flatMap((address) => [
    { to: address as Hex, data: SYMBOL, block },
    { to: address as Hex, data: DECIMALS, block },
  ]);
  const results = await source.call(withState(calls));
  return rereadSilent(source, { addresses, results, at: { block }, poolOf });
};

/**
 * The rows of the tokens. Those that answered nothing are read once more, each between two questions to its pool: however
 * the calls are split into batches, each has one of its pool's beside it, and a pool without code is one of another
 * chain. A factory would not tell, nor would any other pool: several chains have the same ones at the same addresses.
 */
async function rereadSilent(
  source: EvmSource,
  read: {
    readonly addresses: readonly string[];
    readonly results: readonly (Hex | null)[];
    readonly at: Pick<EthCall, "block" | "blockHash">;
    readonly poolOf: ReadonlyMap<string, string>;
  },
): Promise<TokenRow[]> {
  const { addresses, results, at, poolOf } = read;
  const isSilent = (i: number) =>
    [results[2 * i], results[2 * i + 1]].every((result) => (result ?? NO_CODE) === NO_CODE);
  const silent = addresses.filter((_, i) => isSilent(i));
  const rows = toRows(source, addresses, results);
  if (silent.length === 0) return rows;
  const calls = silent.flatMap((token) => {
    const pool = { to: poolOf.get(token) as Hex, data: SYMBOL, ...at };
    return [pool, ...[SYMBOL, DECIMALS].map((data) => ({ to: token as Hex, data, ...at })), pool];
  });
  const again = await source.call(withState(calls));
  const foreign = silent.find((_, i) => again[4 * i] === NO_CODE || again[4 * i + 3] === NO_CODE);
  if (foreign !== undefined)
    throw new UpstreamError(`The node has no code at block ${at.block} for ${poolOf.get(foreign)}.`);
  const answers = silent.flatMap((_, i) => again.slice(4 * i + 1, 4 * i + 3));
  const reread = new Map(toRows(source, silent, answers).map((row) => [row.address, row]));
  return rows.map((row) => reread.get(row.address) ?? row);
}

/** A head that is replaced, or that an endpoint has not yet, is followed by another. */
const ATTEMPTS = 3;

/**
 * Reads many tokens through Multicall3, some hundred calls in one eth_call, at the head of that moment: a discovery takes
 * hours, and a node keeps the state of minutes. A call that fails for want of the state is never taken for a token
 * without symbol.
 */
export function createHeadTokens(source: EvmSource, clock: Clock = systemClock): ReadTokens {
  const multicall = new Multicall({ source, address: MULTICALL3, clock });
  const readAtHead = async (
    addresses: readonly string[],
    poolOf: ReadonlyMap<string, string>,
  ): Promise<TokenRow[]> => {
    const { number: block, hash: blockHash } = await source.head();
    const calls = multicall.at({ number: block, hash: blockHash });
    const wanted = addresses.flatMap((address) =>
      [SYMBOL, DECIMALS].map((data) => calls.call(address as Hex, data)),
    );
    const results = await Promise.all(wanted);
    return rereadSilent(source, { addresses, results, at: { block, blockHash }, poolOf });
  };
  return async (_, addresses, { poolOf }) => {
    if (addresses.length === 0) return [];
    for (let attempt = 1; ; attempt++) {
      try {
        return await readAtHead(addresses, poolOf);
      } catch (error) {
        const isGone = error instanceof BlockUnavailable || error instanceof ReorgDetected;
        if (!isGone || attempt === ATTEMPTS) throw error;
      }
    }
  };
}

function toRows(
  { chainId }: EvmSource,
  addresses: readonly string[],
  results: readonly (Hex | null)[],
): TokenRow[] {
  return addresses.map((address, i) => ({
    chainId,
    address,
    symbol: decodeText(results[2 * i] ?? null) ?? "",
    decimals: decodeDecimals(results[2 * i + 1] ?? null),
  }));
}
