import { decodeDecimals, decodeText, encodeCall } from "../../../shared/evm/abi.ts";
import { type EvmSource, type Hex, UpstreamError } from "../../../shared/evm/port.ts";
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
  readonly #known = new Map<string, TokenRow>();

  constructor(store: Store, source: EvmSource) {
    this.#store = store;
    this.#source = source;
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
    const fresh = await this.#readContracts(
      wanted.filter((address) => !this.#known.has(address)),
      { block, pool },
    );
    for (const row of fresh) this.#known.set(row.address, row);
    return { all: new Map(wanted.map((address) => [address, this.#known.get(address) as TokenRow])), fresh };
  }

  async #readContracts(
    addresses: readonly string[],
    { block, pool }: { block: number; pool: string },
  ): Promise<TokenRow[]> {
    if (addresses.length === 0) return [];
    const calls = addresses.flatMap((address) => [
      { to: address as Hex, data: SYMBOL, block },
      { to: address as Hex, data: DECIMALS, block },
    ]);
    const results = await this.#source.call([...calls, { to: pool as Hex, data: SYMBOL, block }]);
    if (results.at(-1) === NO_CODE)
      throw new UpstreamError(`The node has no code at block ${block} for ${pool}.`);
    return addresses.map((address, i) => ({
      chainId: this.#source.chainId,
      address,
      symbol: decodeText(results[2 * i] ?? null) ?? "",
      decimals: decodeDecimals(results[2 * i + 1] ?? null),
    }));
  }
}
