import { decodeDecimals, decodeText, encodeCall } from "../../shared/evm/abi.ts";
import type { PinnedCalls } from "../../shared/evm/multicall/multicall.ts";
import type { Hex } from "../../shared/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { TokenFacts } from "../protocols/protocol.ts";
import { type TokenRow, tokens } from "../store/collections.ts";

const SYMBOL = encodeCall("0x95d89b41");
const NAME = encodeCall("0x06fdde03");
const DECIMALS = encodeCall("0x313ce567");

/**
 * What tokens say of themselves, asked once. A token that answers nothing at all is not stored: it may not be there
 * yet, or on another branch of the chain only.
 */
export class TokenBook {
  readonly #chainId: number;
  readonly #known: Map<string, TokenFacts>;
  readonly #fresh = new Map<string, TokenRow>();

  private constructor(chainId: number, known: Map<string, TokenFacts>) {
    this.#chainId = chainId;
    this.#known = known;
  }

  static async load(store: Store, chainId: number): Promise<TokenBook> {
    const rows = await store.find(tokens, { filter: { chainId } });
    const known = rows.map(({ address, symbol, name, decimals }) => ({ address, symbol, name, decimals }));
    return new TokenBook(chainId, new Map(known.map((facts) => [facts.address, facts])));
  }

  async read(address: string, calls: PinnedCalls): Promise<TokenFacts> {
    const lower = address.toLowerCase();
    const known = this.#known.get(lower);
    if (known !== undefined) return known;
    const ask = (data: Hex) => calls.call(lower as Hex, data);
    const [symbol, name, decimals] = await Promise.all([ask(SYMBOL), ask(NAME), ask(DECIMALS)]);
    const short = decodeText(symbol) ?? "";
    const facts: TokenFacts = {
      address: lower,
      symbol: short,
      name: decodeText(name) ?? short,
      decimals: decodeDecimals(decimals),
    };
    if (symbol !== null || name !== null || decimals !== null) {
      this.#known.set(lower, facts);
      this.#fresh.set(lower, { chainId: this.#chainId, ...facts });
    }
    return facts;
  }

  /** Those that are not stored yet. */
  fresh(): TokenRow[] {
    return [...this.#fresh.values()];
  }

  /** These are stored now. */
  keep(rows: readonly TokenRow[]): void {
    for (const { address } of rows) this.#fresh.delete(address);
  }
}
