import { ReorgDetected } from "../../../shared/chain-errors.ts";
import { decodeDecimals, decodeText, encodeCall } from "../../../shared/evm/abi.ts";
import { MULTICALL3, Multicall } from "../../../shared/evm/multicall/multicall.ts";
import { BlockUnavailable, type EvmSource, type Hex, UpstreamError } from "../../../shared/evm/port.ts";
import { type Clock, systemClock } from "../../../shared/rpc-client/endpoint/clock.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { TokenRow } from "../../store/collections.ts";
import { getTokens } from "../../store/queries.ts";

const SYMBOL = encodeCall("0x95d89b41");
const DECIMALS = encodeCall("0x313ce567");
/** Bounds memory on chains with hundreds of thousands of tokens; dropped ones are read from the store again. */
const MAX_TOKENS = 50_000;

/** What a node returns of an address without code. */
const NO_CODE = "0x";

/**
 * Symbols and decimals of tokens: from memory, the store, or the contracts, which are read once. A token without
 * decimals() counts in raw units (0 decimals), one without symbol() has the symbol "".
 */
export class TokenReader {
  readonly #store: Store;
  readonly #source: EvmSource;
  readonly #read: ReadTokens;
  readonly #known = new Map<string, TokenRow>();

  constructor(store: Store, source: EvmSource, read: ReadTokens = readTokens) {
    this.#store = store;
    this.#source = source;
    this.#read = read;
  }

  /**
   * All requested tokens, and those that the store does not have yet. Anyone may create a pool of tokens without code;
   * `pool`, which has code at `block`, tells them from a node of another chain, for which this throws. A factory would
   * not tell: several chains have the same one at the same address.
   */
  async read(
    addresses: Iterable<string>,
    { block, pool }: { readonly block: number; readonly pool: string },
  ): Promise<{ all: Map<string, TokenRow>; fresh: TokenRow[] }> {
    const chainId = this.#source.chainId;
    const wanted = [...new Set(addresses)];
    if (this.#known.size > MAX_TOKENS) this.#known.clear();
    const unknown = wanted.filter((address) => !this.#known.has(address));
    for (const row of await getTokens(this.#store, { chainId, addresses: unknown }))
      this.#known.set(row.address, row);
    const missing = wanted.filter((address) => !this.#known.has(address));
    const fresh = await this.#read(this.#source, missing, { block, pool });
    for (const row of fresh) this.#known.set(row.address, row);
    return { all: new Map(wanted.map((address) => [address, this.#known.get(address) as TokenRow])), fresh };
  }
}

/** Reads symbols and decimals from the contracts; `pool` as in TokenReader. */
export type ReadTokens = (
  source: EvmSource,
  addresses: readonly string[],
  at: { readonly block: number; readonly pool: string },
) => Promise<TokenRow[]>;

/** Two eth_calls a token. */
export const readTokens: ReadTokens = async (source, addresses, { block, pool }) => {
  if (addresses.length === 0) return [];
  const calls = addresses.flatMap((address) => [
    { to: address as Hex, data: SYMBOL, block },
    { to: address as Hex, data: DECIMALS, block },
  ]);
  const results = await source.call([...calls, { to: pool as Hex, data: SYMBOL, block }]);
  if (results.at(-1) === NO_CODE)
    throw new UpstreamError(`The node has no code at block ${block} for ${pool}.`);
  return toRows(source, addresses, results);
};

/** A head that is replaced, or that an endpoint has not yet, is followed by another. */
const ATTEMPTS = 3;

/**
 * Reads many tokens through Multicall3, some hundred calls in one eth_call, at the head of that moment: a discovery takes
 * hours, and a node keeps the state of minutes. A call that fails for want of the state is never taken for a token
 * without symbol.
 */
export function createHeadTokens(source: EvmSource, clock: Clock = systemClock): ReadTokens {
  const multicall = new Multicall({ source, address: MULTICALL3, clock });
  const readAtHead = async (addresses: readonly string[], pool: string): Promise<TokenRow[]> => {
    const { number: block, hash: blockHash } = await source.head();
    const calls = multicall.at({ number: block, hash: blockHash });
    const wanted = addresses.flatMap((address) =>
      [SYMBOL, DECIMALS].map((data) => calls.call(address as Hex, data)),
    );
    const results = await Promise.all(wanted);
    const [code] = await source.call([{ to: pool as Hex, data: SYMBOL, block, blockHash }]);
    if (code === NO_CODE) throw new UpstreamError(`The node has no code at block ${block} for ${pool}.`);
    return toRows(source, addresses, results);
  };
  return async (_, addresses, { pool }) => {
    if (addresses.length === 0) return [];
    for (let attempt = 1; ; attempt++) {
      try {
        return await readAtHead(addresses, pool);
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
