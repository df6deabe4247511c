import { decodeDecimals, decodeText, encodeCall } from "../../../shared/evm/abi.ts";
import type { PinnedCalls } from "../../../shared/evm/multicall/multicall.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { TokenMetadata } from "../../protocols/protocol.ts";
import { type TokenRow, tokens } from "../../store/collections.ts";

const SYMBOL = encodeCall("0x95d89b41");
const NAME = encodeCall("0x06fdde03");
const DECIMALS = encodeCall("0x313ce567");

/**
 * Token metadata, read once per token. A token that returns nothing at all is not stored: it may not be deployed yet, or
 * only on another branch of the chain.
 */
export class TokenCache {
  readonly #chainId: number;
  readonly #known: Map<string, TokenMetadata>;
  readonly #unsaved = new Map<string, TokenRow>();

  private constructor(chainId: number, known: Map<string, TokenMetadata>) {
    this.#chainId = chainId;
    this.#known = known;
  }

  static async load(store: Store, chainId: number): Promise<TokenCache> {
    const rows = await store.find(tokens, { filter: { chainId } });
    const known = rows.map(({ address, symbol, name, decimals }) => ({ address, symbol, name, decimals }));
    return new TokenCache(chainId, new Map(known.map((token) => [token.address, token])));
  }

  async read(address: string, calls: PinnedCalls): Promise<TokenMetadata> {
    const lower = address.toLowerCase();
    const known = this.#known.get(lower);
    if (known !== undefined) return known;
    const call = (data: Hex) => calls.call(lower as Hex, data);
    const [symbolData, nameData, decimals] = await Promise.all([call(SYMBOL), call(NAME), call(DECIMALS)]);
    const symbol = decodeText(symbolData) ?? "";
    const metadata: TokenMetadata = {
      address: lower,
      symbol,
      name: decodeText(nameData) ?? symbol,
      decimals: decodeDecimals(decimals),
    };
    if (symbolData !== null || nameData !== null || decimals !== null) {
      this.#known.set(lower, metadata);
      this.#unsaved.set(lower, { chainId: this.#chainId, ...metadata });
    }
    return metadata;
  }

  /** Tokens that are not stored yet. */
  unsaved(): TokenRow[] {
    return [...this.#unsaved.values()];
  }

  markSaved(rows: readonly TokenRow[]): void {
    for (const { address } of rows) this.#unsaved.delete(address);
  }
}
