import { Buffer } from "node:buffer";
import { TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import { join, u8, u64, u128 } from "../chain/bytes.ts";
import { type AccountRef, type Caller, type ProgramFrame, readonly, writable } from "../chain/execution.ts";
import { burn, findTokenAccount, mintTo, transfer } from "../chain/token-program.ts";
import { expectLiquidity, expectTrade } from "./expect.ts";
import { payIn, payOut, sizeAddition, sizeRemoval } from "./liquidity.ts";
import {
  checkSlippage,
  type Exchange,
  findSides,
  type LiquidityOrder,
  type Pool,
  quote,
  sideAccount,
} from "./pool.ts";

const self = {
  program: "raydium-amm-v4",
  programId: "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8",
  dex: "raydium",
} as const;

/** Numbers of the ray_log's entries. */
const LOG = { deposit: 1, withdraw: 2, swapIn: 3 };
const PC_TO_COIN = 1n;
const COIN_TO_PC = 2n;

export const raydiumAmmV4: Exchange = {
  ...self,
  swap(caller, order) {
    const { ledger } = caller;
    const { pool, user, aToB, amountIn } = order;
    const { userIn, userOut, vaultIn, vaultOut } = findSides(ledger, order);
    const users = [writable(userIn), writable(userOut), readonly(user)];
    // 18 accounts, 17 without the target orders, or the eight of the newer instruction.
    const form = order.form % 3;
    const accounts =
      form === 2
        ? [...head(pool), ...vaults(pool), ...users]
        : [...head(pool), ...orders(pool, form === 0), ...vaults(pool), ...market(pool), ...users];
    const data = join(u8(form === 2 ? 16 : 9), u64(amountIn), u64(order.minimumOut ?? 0n));
    let received = 0n;
    caller.invoke({ program: self.programId, accounts, data }, (frame) => {
      const { out } = quote(ledger, order);
      const [coin, pc] = [ledger.amountOf(pool.vaults[0]), ledger.amountOf(pool.vaults[1])];
      const source = ledger.amountOf(userIn);
      writeRayLog(frame, [
        u8(LOG.swapIn),
        ...[amountIn, order.minimumOut ?? 0n, aToB ? COIN_TO_PC : PC_TO_COIN, source, coin, pc, out].map(u64),
      ]);
      transfer(frame, { from: userIn, to: vaultIn, authority: user, amount: amountIn });
      received = transfer(frame, { from: vaultOut, to: userOut, authority: pool.authority, amount: out });
      checkSlippage(order, received);
      expectTrade(frame, self, { pool, user, aToB, amountIn, amountOut: out });
    });
    return received;
  },
  addLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const lp = lpMint(pool);
    const users = [...pool.mints, lp].map((mint) => findTokenAccount(ledger, user, mint));
    const [_userCoin = "", _userPc = "", userLp = ""] = users;
    const { shares, sent } = sizeAddition(ledger, order, ledger.mint(lp).supply);
    const data = join(u8(3), u64(sent[0] + sent[0] / 100n), u64(sent[1] + sent[1] / 100n), u64(0));
    const accounts = [
      ...head(pool),
      ...orders(pool, true),
      writable(lp),
      ...vaults(pool),
      readonly(sideAccount(pool, "market")),
      ...users.map(writable),
      readonly(user),
      readonly(sideAccount(pool, "event queue")),
    ];
    caller.invoke({ program: self.programId, accounts, data }, (frame) => {
      const [coin, pc] = [ledger.amountOf(pool.vaults[0]), ledger.amountOf(pool.vaults[1])];
      writeRayLog(frame, [
        u8(LOG.deposit),
        ...[sent[0], sent[1], 0n, coin, pc, ledger.mint(lp).supply].map(u64),
        ...[u128(0n), u128(0n)],
        ...[sent[0], sent[1], shares].map(u64),
      ]);
      payIn(frame, { ...order, move: transfer }, sent);
      mintTo(frame, { mint: lp, account: userLp, authority: pool.authority, amount: shares });
      expectLiquidity(frame, self, { kind: "add_liquidity", pool, user, amounts: sent });
    });
  },
  removeLiquidity(caller, order) {
    withdraw(caller, order);
  },
};

function withdraw(caller: Caller, order: LiquidityOrder): void {
  const { ledger } = caller;
  const { pool, user } = order;
  const lp = lpMint(pool);
  const [userCoin = "", userPc = ""] = pool.mints.map((mint) => findTokenAccount(ledger, user, mint));
  const userLp = findTokenAccount(ledger, user, lp);
  const held = ledger.amountOf(userLp);
  const { shares, amounts } = sizeRemoval(ledger, order, { held, total: ledger.mint(lp).supply });
  const side = (role: string) => writable(sideAccount(pool, role));
  const accounts = [
    ...head(pool),
    ...orders(pool, true),
    writable(lp),
    ...vaults(pool),
    ...["withdraw queue", "temporary lp", "market program", "market"].map(side),
    ...["market coin vault", "market pc vault", "market signer"].map(side),
    ...[userLp, userCoin, userPc].map(writable),
    readonly(user),
    ...["event queue", "bids", "asks"].map(side),
  ];
  caller.invoke({ program: self.programId, accounts, data: join(u8(4), u64(shares)) }, (frame) => {
    const [coin, pc] = [ledger.amountOf(pool.vaults[0]), ledger.amountOf(pool.vaults[1])];
    writeRayLog(frame, [
      u8(LOG.withdraw),
      ...[shares, held, coin, pc, ledger.mint(lp).supply].map(u64),
      ...[u128(0n), u128(0n)],
      ...amounts.map(u64),
    ]);
    payOut(frame, { ...order, move: transfer }, amounts);
    burn(frame, { mint: lp, account: userLp, authority: user, amount: shares });
    expectLiquidity(frame, self, { kind: "remove_liquidity", pool, user, amounts });
  });
}

export function lpMint(pool: Pool): string {
  return sideAccount(pool, "lp mint");
}

function head(pool: Pool): AccountRef[] {
  return [readonly(TOKEN_PROGRAM), writable(pool.address), readonly(pool.authority)];
}

function orders(pool: Pool, withTargets: boolean): AccountRef[] {
  const roles = withTargets ? ["open orders", "target orders"] : ["open orders"];
  return roles.map((role) => writable(sideAccount(pool, role)));
}

function vaults(pool: Pool): AccountRef[] {
  return pool.vaults.map(writable);
}

function market(pool: Pool): AccountRef[] {
  const read = (role: string) => readonly(sideAccount(pool, role));
  const write = (role: string) => writable(sideAccount(pool, role));
  return [
    read("market program"),
    ...["market", "bids", "asks", "event queue", "market coin vault", "market pc vault"].map(write),
    read("market signer"),
  ];
}

/** The program's own log line: no Anchor event. */
function writeRayLog(frame: ProgramFrame, fields: readonly Uint8Array[]): void {
  frame.log(`ray_log: ${Buffer.from(join(...fields)).toString("base64")}`);
}
