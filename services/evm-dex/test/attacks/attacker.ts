import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { aerodromePoolAddresses } from "../../../../deploy/devnet/contracts/aerodrome/abi.ts";
import { devToken } from "../../../../deploy/devnet/contracts/artifacts.ts";
import { hostileToken } from "../../../../deploy/devnet/contracts/attack/artifacts.ts";
import { factoryAbi, poolAbi, poolAddresses } from "../../../../deploy/devnet/contracts/uniswap.ts";
import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";

export interface Token {
  readonly address: Address;
  readonly decimals: number;
}

/** A pool as attacks need it. */
export interface AnyPool {
  readonly address: Address;
  readonly token0: { readonly address: Address };
  readonly token1: { readonly address: Address };
}

const GAS: Hex = "0x7a1200";

export const raw = (whole: number, { decimals }: { decimals: number }): bigint =>
  (BigInt(Math.round(whole * 1e6)) * 10n ** BigInt(decimals)) / 1_000_000n;

/** Somebody with any amount of any token, and an account of what he put in and has not got back, in honest USD. */
export class Attacker {
  readonly #chain: TestChain;
  readonly from: Address;
  #name = 0;

  constructor(chain: TestChain) {
    this.#chain = chain;
    this.from = chain.accounts[7] as Address;
  }

  async call(to: Address, data: Hex): Promise<void> {
    await this.#chain.sendTransactions([{ from: this.from, to, data, gas: GAS }]);
  }

  async #create(data: Hex): Promise<Address> {
    const nonce = await this.#chain.anvil.rpc.call<Hex>("eth_getTransactionCount", [this.from, "pending"]);
    await this.#chain.sendTransactions([{ from: this.from, data, gas: GAS }]);
    return getContractAddress({ from: this.from, nonce: BigInt(nonce) }).toLowerCase() as Address;
  }

  /** A token of his own; anybody mints it. */
  async token(symbol = `SCAM${++this.#name}`, decimals = 18): Promise<Token> {
    const { abi, bytecode } = devToken;
    return {
      address: await this.#create(encodeDeployData({ abi, bytecode, args: [symbol, symbol, decimals] })),
      decimals,
    };
  }

  async hostileToken(): Promise<Token> {
    return { address: await this.#create(hostileToken.bytecode), decimals: 18 };
  }

  hostile(token: Token, functionName: "lie" | "tax", value: bigint): Promise<void> {
    return this.call(
      token.address,
      encodeFunctionData({ abi: hostileToken.abi, functionName, args: [value] }),
    );
  }

  /** Mints to a pool: a donation that no event of the pool tells of. */
  donate(token: Token, to: Address, whole: number): Promise<void> {
    const args = [to, raw(whole, token)] as const;
    return this.call(token.address, encodeFunctionData({ abi: devToken.abi, functionName: "mint", args }));
  }

  /** A volatile Aerodrome pool with whole amounts of both. */
  async pool(tokens: readonly [Token, Token], amounts: readonly [number, number]): Promise<Address> {
    const [tokenA, tokenB] = [tokens[0].address, tokens[1].address];
    const { aerodrome } = this.#chain;
    const { factory, implementation } = aerodrome.deployment;
    const address = aerodromePoolAddresses(factory, implementation)({ tokenA, tokenB, stable: false });
    if ((await this.#chain.anvil.rpc.call<Hex>("eth_getCode", [address, "latest"])) === "0x") {
      await aerodrome.createPool({ tokenA, tokenB, stable: false }, { from: this.from });
    }
    await this.addLiquidity(address, tokens, amounts);
    return address;
  }

  async addLiquidity(
    pool: Address,
    tokens: readonly [Token, Token],
    amounts: readonly [number, number],
  ): Promise<void> {
    const isOrdered = tokens[0].address < tokens[1].address;
    const ordered = isOrdered ? [0, 1] : [1, 0];
    const [amount0, amount1] = ordered.map((i) => raw(amounts[i] as number, tokens[i] as Token)) as [
      bigint,
      bigint,
    ];
    await this.#chain.aerodrome.addLiquidity(pool, [amount0, amount1], { from: this.from });
  }

  /** Everything out again. */
  async removeLiquidity(pool: Address, part = 1n, from = this.from): Promise<void> {
    const balance = await this.#chain.aerodrome.lpBalance(pool, from);
    await this.#chain.aerodrome.removeLiquidity(pool, balance / part, { from });
  }

  /** Sells a whole amount of a token into an Aerodrome pool. */
  async sell(pool: AnyPool, token: Token, whole: number): Promise<void> {
    const swap = {
      zeroForOne: pool.token0.address === token.address,
      amountIn: raw(whole, token),
      from: this.from,
    };
    await this.#chain.aerodrome.swap(pool.address, swap);
  }

  /** The same into a Uniswap pool. */
  async sellV3(pool: AnyPool, token: Token, whole: number): Promise<void> {
    const swap = {
      zeroForOne: pool.token0.address === token.address,
      amount: raw(whole, token),
      from: this.from,
    };
    await this.#chain.swap(pool.address, swap);
  }

  /** A genuine Uniswap pool at a price of 1 raw unit, with liquidity over all prices. */
  async poolV3(tokens: readonly [Token, Token], liquidity: bigint): Promise<Address> {
    const [token0, token1] = [tokens[0].address, tokens[1].address].sort() as [Address, Address];
    const { factory } = this.#chain.deployment;
    const args = [token0, token1, 3_000] as const;
    await this.call(factory, encodeFunctionData({ abi: factoryAbi, functionName: "createPool", args }));
    const pool = poolAddresses(factory)({ token0, token1, fee: 3_000 });
    await this.call(
      pool,
      encodeFunctionData({ abi: poolAbi, functionName: "initialize", args: [2n ** 96n] }),
    );
    await this.#chain.addLiquidity(pool, { lower: -6_000, upper: 6_000, liquidity }, { from: this.from });
    return pool;
  }
}
