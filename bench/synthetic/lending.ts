import { createRandom } from "../../deploy/devnet/random.ts";
import {
  MARKET,
  type MarketState,
  type Token,
  VAULT,
  type VaultState,
  ZERO_ADDRESS,
} from "../../services/lending/protocols/morpho-v1/state.ts";
import type { EntityState } from "../../services/lending/protocols/protocol.ts";
import {
  type CheckpointRow,
  checkpoints,
  type EntityRow,
  entities,
} from "../../services/lending/store/collections.ts";
import { toStateText } from "../../services/lending/store/state-text.ts";
import { put, type Store } from "../../services/shared/storage/port.ts";

const CHAIN_ID = 8453;
const WAD = 10n ** 18n;
const MORPHO = address(0xb1e);
const IRM = address(0x1a);
/** Tokens that are lent, one in eight of them without a price. */
const TOKENS = 400;
const CURATORS = 300;
const MARKETS_A_VAULT = 2;
const UNITS_A_WRITE = 2_000;

/** What a deployments file says of the synthetic chain. */
export const DEPLOYMENTS = {
  lending: {
    chains: [
      {
        chainId: CHAIN_ID,
        name: "Synthetic",
        protocols: {
          "morpho-v1": { morpho: MORPHO, fromBlock: 0, adaptiveCurveIrms: [IRM], vaultFactories: [] },
        },
      },
    ],
  },
};

const random = createRandom(1);
const between = (from: number, to: number) => from + (to - from) * random.next();

export function address(n: number): `0x${string}` {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

export const vaultAddress = (n: number) => address(0xa0_0000 + n);
export const curatorAddress = (n: number) => address(0xc0_0000 + (n % CURATORS));
export const tokenAddress = (n: number) => address(0x70_0000 + (n % TOKENS));
const marketId = (n: number) => `0x${(n * 7_919 + 1).toString(16).padStart(64, "0")}`;

/** USD for one whole token: some change with every block. */
export function priceOf(token: string, block: number): number | null {
  const n = Number.parseInt(token.slice(-6), 16) - 0x70_0000;
  if (n % 8 === 7) return null;
  return n % 4 === 0 ? 1 : (n + 1) * (1 + (block % 100) / 1_000);
}

const tokenAt = (n: number): Token => ({
  address: tokenAddress(n),
  symbol: `T${n % TOKENS}`,
  decimals: n % 3 === 0 ? 6 : 18,
});

function marketState(n: number, time: number): MarketState {
  const loan = tokenAt(n);
  const unit = 10n ** BigInt(loan.decimals);
  const supplyAssets = (unit * BigInt(Math.floor(10 ** between(3, 9)))) / 1_000n;
  const borrowAssets = (supplyAssets * BigInt(Math.floor(between(0, 1_000)))) / 1_001n;
  const shares = 10n ** 6n;
  return {
    params: {
      loan,
      collateral: tokenAt(n + 17),
      oracle: address(0x0ac1e + n),
      irm: IRM,
      lltv: (WAD * 86n) / 100n,
    },
    ...{
      supplyAssets,
      supplyShares: supplyAssets * shares,
      borrowAssets,
      borrowShares: borrowAssets * shares,
    },
    ...{ lastUpdate: time, fee: 0n, borrowRate: null },
    rateAtTarget: BigInt(Math.floor(between(1e8, 1e10))),
  };
}

/** Every vault lends its token in markets that lend the same. */
function vaultState(n: number, markets: number): VaultState {
  const asset = tokenAt(n);
  const ids = Array.from({ length: MARKETS_A_VAULT }, (_, i) => (n + i * TOKENS) % markets);
  const [owner, curator] = [address(0x0fee), curatorAddress(n)];
  return {
    ...{ name: `Vault ${n} of ${asset.symbol}`, symbol: `v${n}`, asset, decimalsOffset: 18 - asset.decimals },
    ...{ owner, curator, guardian: ZERO_ADDRESS, feeRecipient: owner, timelock: 86_400 },
    ...{ fee: (WAD * BigInt(n % 20)) / 100n, totalSupply: WAD, lastTotalAssets: WAD, lostAssets: null },
    supplyQueue: ids.map(marketId),
    markets: ids.map((id) => ({
      ...{ id: marketId(id), cap: n % 5 === 0 ? 2n ** 184n - 1n : 10n ** 24n, enabled: true, removableAt: 0 },
      pendingCap: { value: 0n, validAt: 0 },
      shares: 10n ** BigInt(asset.decimals + 6) * BigInt(Math.floor(10 ** between(0, 5))),
    })),
  };
}

/** A store of Morpho markets and vaults that is written block by block. */
export class SyntheticLending {
  readonly #store: Store;
  readonly #vaults: number;
  readonly #markets: number;
  #block = 1_000;

  constructor(store: Store, size: { vaults: number; markets: number }) {
    this.#store = store;
    this.#vaults = size.vaults;
    this.#markets = size.markets;
  }

  get block(): number {
    return this.#block;
  }

  async writeAll(): Promise<void> {
    const all = [
      ...Array.from({ length: this.#markets }, (_, n) => this.#market(n)),
      ...Array.from({ length: this.#vaults }, (_, n) => this.#vault(n)),
    ];
    for (let at = 0; at < all.length; at += UNITS_A_WRITE) {
      await this.#store.write([put(entities, all.slice(at, at + UNITS_A_WRITE))]);
    }
    await this.#store.write([put(checkpoints, [this.#checkpoint()])]);
  }

  /** The next block, in which some markets and vaults were touched and a few more came up for their refresh. */
  async mine(touched: number): Promise<number> {
    this.#block += 1;
    const rows = Array.from({ length: touched }, (_, i) =>
      i % 2 === 0 ? this.#market(random.below(this.#markets)) : this.#vault(random.below(this.#vaults)),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    await this.#store.write([put(entities, [...byId.values()]), put(checkpoints, [this.#checkpoint()])]);
    return this.#block;
  }

  #time(): number {
    return 1_760_000_000 + 2 * this.#block;
  }

  #market(n: number): EntityRow {
    return this.#unit({ kind: MARKET, id: marketId(n) }, marketState(n, this.#time()));
  }

  #vault(n: number): EntityRow {
    return this.#unit({ kind: VAULT, id: vaultAddress(n) }, vaultState(n, this.#markets));
  }

  #unit(ref: { kind: string; id: string }, state: EntityState): EntityRow {
    const at = { block: this.#block, blockHash: `0x${this.#block}`, time: this.#time() };
    return {
      ...{ chainId: CHAIN_ID, ...ref, ...at, version: this.#block, foundBlock: 1_000 },
      ...{ state: toStateText(state), failures: 0 },
    };
  }

  #checkpoint(): CheckpointRow {
    const [blockNumber, blockTime] = [this.#block, this.#time()];
    return {
      ...{ chainId: CHAIN_ID, blockNumber, blockHash: `0x${blockNumber}`, blockTime },
      ...{ fromBlock: 1_000, fromTime: 1_760_002_000, chainHead: blockNumber, genesisHash: "0x0" },
      ...{ version: blockNumber, epoch: 0 },
    };
  }
}
