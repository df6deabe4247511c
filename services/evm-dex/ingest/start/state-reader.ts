import { encodeCall } from "../../../shared/evm/abi.ts";
import { MULTICALL3, Multicall, type PinnedCalls } from "../../../shared/evm/multicall/multicall.ts";
import { BlockUnavailable, type EvmSource, type Hex } from "../../../shared/evm/port.ts";
import type { GaugeFacts } from "../../protocols/protocol.ts";
import type { PoolRow } from "../../store/collections.ts";
import { BALANCE_OF, readBalance } from "../reads/balances.ts";
import { type PastState, parsePastState, pastStateCalls } from "../reads/past-states.ts";

interface BlockRef {
  readonly number: number;
  readonly hash: Hex;
}

/** Reads many pools at one block, some hundred calls in one eth_call of Multicall3. */
export class StateReader {
  readonly #multicall: Multicall;
  readonly block: BlockRef;

  private constructor(multicall: Multicall, block: BlockRef) {
    this.#multicall = multicall;
    this.block = block;
  }

  /** At a block, or at the head where no node has the block's state. Throws ReorgDetected for a replaced block. */
  static async open(source: EvmSource, block: BlockRef): Promise<StateReader> {
    const multicall = new Multicall({ source, address: MULTICALL3 });
    try {
      await multicall.at(block).call(MULTICALL3, encodeCall(BALANCE_OF, [MULTICALL3]));
      return new StateReader(multicall, block);
    } catch (error) {
      if (!(error instanceof BlockUnavailable)) throw error;
      return new StateReader(multicall, await source.head());
    }
  }

  /** Return data; null where a call failed. */
  call(wanted: readonly { to: Hex; data: Hex }[]): Promise<(Hex | null)[]> {
    const calls = this.#multicall.at(this.block);
    return Promise.all(wanted.map(({ to, data }) => calls.call(to, data)));
  }

  /** What pools hold of a token each, raw units; null where the token fails. */
  readBalances(wanted: readonly { pool: string; token: string }[]): Promise<(bigint | null)[]> {
    // Its own, since it remembers every result.
    const calls = this.#multicall.at(this.block);
    return Promise.all(
      wanted.map(async ({ pool, token }) =>
        readBalance(await calls.call(token as Hex, encodeCall(BALANCE_OF, [pool as Hex]))),
      ),
    );
  }

  /** State and balances of pools; undefined where a call failed. */
  readStates(
    pools: readonly { row: PoolRow; gauge: GaugeFacts | undefined }[],
  ): Promise<(PastState | undefined)[]> {
    const calls = this.#multicall.at(this.block);
    return Promise.all(pools.map((pool) => this.#readState(pool, calls)));
  }

  async #readState(
    pool: { row: PoolRow; gauge: GaugeFacts | undefined },
    calls: PinnedCalls,
  ): Promise<PastState | undefined> {
    const wanted = pastStateCalls({ ...pool, block: this.block.number });
    return parsePastState(pool, await Promise.all(wanted.map(({ to, data }) => calls.call(to, data))));
  }
}
