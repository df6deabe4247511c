import { TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress, MEMO_PROGRAM } from "../chain/addresses.ts";
import { flag, hex, i32, join, key, u8, u64, u128 } from "../chain/bytes.ts";
import { type AccountRef, type Caller, type ProgramFrame, readonly, writable } from "../chain/execution.ts";
import type { Ledger } from "../chain/ledger.ts";
import { computeTransferFee, findTokenAccount, transfer, transferChecked } from "../chain/token-program.ts";
import { expectLiquidity, expectTrade } from "./expect.ts";
import {
  addShares,
  payIn,
  payOut,
  readShares,
  sizeAddition,
  sizeRemoval,
  transferFees,
} from "./liquidity.ts";
import {
  checkSlippage,
  type Exchange,
  findSides,
  type LiquidityOrder,
  type Pool,
  type Quote,
  quote,
  type SwapOrder,
  sideAccount,
  sqrtPriceX64,
} from "./pool.ts";

const self = {
  program: "orca-whirlpool",
  programId: "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc",
  dex: "orca",
} as const;

export const orcaWhirlpool: Exchange = {
  ...self,
  swap(caller, order) {
    const { ledger } = caller;
    const { pool, user, aToB, amountIn } = order;
    const { userIn, userOut, vaultIn, vaultOut } = findSides(ledger, order);
    const isNew = order.form % 2 === 0;
    const move = isNew ? transferChecked : transfer;
    const data = join(
      hex(isNew ? "2b04ed0b1ac91e62" : "f8c69e91e17587c8"),
      ...[u64(amountIn), u64(order.minimumOut ?? 0n), u128(0n), flag(true), flag(aToB)],
      ...(isNew ? [u8(0)] : []),
    );
    let received = 0n;
    caller.invoke(
      { program: self.programId, accounts: swapAccounts(ledger, order, isNew), data },
      (frame) => {
        frame.log(`Instruction: Swap${isNew ? "V2" : ""}`);
        const sums = quote(ledger, order);
        const before = sqrtPriceX64(ledger, pool);
        move(frame, { from: userIn, to: vaultIn, authority: user, amount: amountIn });
        received = move(frame, { from: vaultOut, to: userOut, authority: pool.address, amount: sums.out });
        emitTraded(frame, { ...order, sqrtBefore: before }, sums);
        checkSlippage(order, received);
        expectTrade(frame, self, { pool, user, aToB, amountIn: sums.received, amountOut: sums.out });
      },
    );
    return received;
  },
  addLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const { shares, sent } = sizeAddition(ledger, order, readShares(ledger, order).total);
    const data = join(hex("851d59df45eeb00a"), u128(shares), u64(sent[0] * 2n), u64(sent[1] * 2n), u8(0));
    caller.invoke({ program: self.programId, accounts: liquidityAccounts(ledger, order), data }, (frame) => {
      frame.log("Instruction: IncreaseLiquidityV2");
      const amounts = payIn(frame, order, sent);
      const fees = [sent[0] - amounts[0], sent[1] - amounts[1]];
      // The event counts what was sent.
      frame.emit(
        join(hex("1e0790b566fe9ba1"), ...liquidityEvent(order, shares), ...[...sent, ...fees].map(u64)),
      );
      addShares(ledger, order, shares);
      expectLiquidity(frame, self, { kind: "add_liquidity", pool, user, amounts });
    });
  },
  removeLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const { shares, amounts } = sizeRemoval(ledger, order, readShares(ledger, order));
    const data = join(hex("3a7fbc3e4f52c460"), u128(shares), u64(0), u64(0), u8(0));
    caller.invoke({ program: self.programId, accounts: liquidityAccounts(ledger, order), data }, (frame) => {
      frame.log("Instruction: DecreaseLiquidityV2");
      payOut(frame, order, amounts);
      const fees = transferFees(ledger, pool, amounts);
      frame.emit(
        join(hex("a601244770cab5ab"), ...liquidityEvent(order, shares), ...[...amounts, ...fees].map(u64)),
      );
      addShares(ledger, order, -shares);
      expectLiquidity(frame, self, { kind: "remove_liquidity", pool, user, amounts });
    });
  },
};

export interface TwoHopOrder {
  readonly user: string;
  readonly first: Pick<SwapOrder, "pool" | "aToB">;
  readonly second: Pick<SwapOrder, "pool" | "aToB">;
  readonly amountIn: bigint;
}

/** Two pools in one instruction; what comes out of the first goes from its vault straight into the second's. */
export function twoHopSwap(caller: Caller, { user, first, second, amountIn }: TwoHopOrder): void {
  const { ledger } = caller;
  const one = { ...first, user, amountIn, form: 0 };
  const [a, b] = [findSides(ledger, one), findSides(ledger, { ...second, user })];
  const data = join(
    hex("ba8fd11dfe02c275"),
    ...[u64(amountIn), u64(0), flag(true), flag(first.aToB), flag(second.aToB), u128(0n), u128(0n), u8(0)],
  );
  const accounts = [
    ...[first.pool.address, second.pool.address].map(writable),
    ...[a.mintIn, a.mintOut, b.mintOut].map(readonly),
    ...[a.mintIn, a.mintOut, b.mintOut].map((mint) => readonly(ledger.mint(mint).program)),
    ...[a.userIn, a.vaultIn, a.vaultOut, b.vaultIn, b.vaultOut, b.userOut].map(writable),
    readonly(user),
    ...tickArrays(first.pool),
    ...tickArrays(second.pool),
    ...[first.pool, second.pool].map((pool) => writable(sideAccount(pool, "oracle"))),
    readonly(MEMO_PROGRAM),
  ];
  caller.invoke({ program: self.programId, accounts, data }, (frame) => {
    frame.log("Instruction: TwoHopSwapV2");
    const sumsOne = quote(ledger, one);
    const two = { ...second, user, amountIn: sumsOne.out, form: 0 };
    const sumsTwo = quote(ledger, two);
    const [sqrtOne, sqrtTwo] = [sqrtPriceX64(ledger, first.pool), sqrtPriceX64(ledger, second.pool)];
    transferChecked(frame, { from: a.userIn, to: a.vaultIn, authority: user, amount: amountIn });
    transferChecked(frame, {
      from: a.vaultOut,
      to: b.vaultIn,
      authority: first.pool.address,
      amount: sumsOne.out,
    });
    transferChecked(frame, {
      from: b.vaultOut,
      to: b.userOut,
      authority: second.pool.address,
      amount: sumsTwo.out,
    });
    emitTraded(frame, { ...one, sqrtBefore: sqrtOne }, sumsOne);
    emitTraded(frame, { ...two, sqrtBefore: sqrtTwo }, sumsTwo);
    expectTrade(frame, self, { ...first, user, leg: 0, amountIn: sumsOne.received, amountOut: sumsOne.out });
    expectTrade(frame, self, { ...second, user, leg: 1, amountIn: sumsTwo.received, amountOut: sumsTwo.out });
  });
}

function swapAccounts(ledger: Ledger, { pool, user }: SwapOrder, isNew: boolean): AccountRef[] {
  const users = pool.mints.map((mint) => findTokenAccount(ledger, user, mint));
  const sides = pool.vaults.flatMap((vault, i) => [writable(users[i] as string), writable(vault)]);
  const tail = [...sides, ...tickArrays(pool), writable(sideAccount(pool, "oracle"))];
  if (!isNew) return [readonly(TOKEN_PROGRAM), readonly(user), writable(pool.address), ...tail];
  const programs = pool.mints.map((mint) => readonly(ledger.mint(mint).program));
  return [
    ...programs,
    readonly(MEMO_PROGRAM),
    readonly(user),
    writable(pool.address),
    ...pool.mints.map(readonly),
    ...tail,
  ];
}

function liquidityAccounts(ledger: Ledger, order: LiquidityOrder): AccountRef[] {
  const { pool, user } = order;
  return [
    writable(pool.address),
    ...pool.mints.map((mint) => readonly(ledger.mint(mint).program)),
    readonly(MEMO_PROGRAM),
    readonly(user),
    writable(position(order, "position")),
    readonly(position(order, "nft account")),
    ...pool.mints.map(readonly),
    ...pool.mints.map((mint) => writable(findTokenAccount(ledger, user, mint))),
    ...pool.vaults.map(writable),
    ...tickArrays(pool).slice(0, 2),
  ];
}

function emitTraded(
  frame: ProgramFrame,
  order: SwapOrder & { readonly sqrtBefore: bigint },
  sums: Quote,
): void {
  const { ledger } = frame;
  const { pool, aToB, amountIn } = order;
  const { mintOut } = findSides(ledger, order);
  frame.emit(
    join(
      hex("e1ca49af932ba096"),
      key(pool.address),
      flag(aToB),
      u128(order.sqrtBefore),
      u128(sqrtPriceX64(ledger, pool)),
      // As sent, with the token's own fee.
      ...[
        amountIn,
        sums.out,
        amountIn - sums.received,
        computeTransferFee(ledger.mint(mintOut), sums.out),
      ].map(u64),
      ...[sums.fee, 0n].map(u64),
    ),
  );
}

function liquidityEvent(order: LiquidityOrder, shares: bigint): Uint8Array[] {
  return [
    key(order.pool.address),
    key(position(order, "position")),
    i32(-443_636),
    i32(443_636),
    u128(shares),
  ];
}

function tickArrays(pool: Pool): AccountRef[] {
  return ["tick array 0", "tick array 1", "tick array 2"].map((role) => writable(sideAccount(pool, role)));
}

function position({ pool, user }: LiquidityOrder, role: string): string {
  return deriveAddress("position", pool.name, user, role);
}
