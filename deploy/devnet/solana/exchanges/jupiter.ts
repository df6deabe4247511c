import { findProgramAddress, TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import { hex, join, key, u8, u16, u32, u64 } from "../chain/bytes.ts";
import { type Caller, readonly, writable } from "../chain/execution.ts";
import { ProgramError } from "../chain/ledger.ts";
import { findTokenAccount } from "../chain/token-program.ts";
import { type Exchange, emitByCall, findSides, type SwapOrder } from "./pool.ts";

const programId = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";
const self = { programId, eventAuthority: findProgramAddress(["__event_authority"], programId) } as const;

export interface Hop {
  readonly exchange: Exchange;
  readonly order: Pick<SwapOrder, "pool" | "aToB" | "form">;
}

export interface RouteOrder {
  readonly user: string;
  /** Each takes what the one before it gave. */
  readonly hops: readonly Hop[];
  readonly amountIn: bigint;
  readonly minimumOut?: bigint;
}

/** Jupiter's route: swaps of other programs one call deeper, each followed by an event of the router's own. */
export function route(caller: Caller, { user, hops, amountIn, minimumOut = 0n }: RouteOrder): void {
  const { ledger } = caller;
  const sides = hops.map(({ order }) => findSides(ledger, { ...order, user }));
  const [first, last] = [sides[0], sides.at(-1)];
  if (first === undefined || last === undefined) throw new Error("A route needs a hop");
  const steps = hops.map((_, i) => join(u8(26 + i), u8(100), u8(i), u8(i + 1)));
  const data = join(
    hex("e517cb977ae3ad2a"),
    ...[u32(hops.length), ...steps, u64(amountIn), u64(minimumOut), u16(50), u8(0)],
  );
  const accounts = [
    readonly(TOKEN_PROGRAM),
    readonly(user),
    ...[first.userIn, last.userOut].map(writable),
    readonly(programId),
    readonly(last.mintOut),
    ...[programId, self.eventAuthority, programId].map(readonly),
    ...hops.map(({ exchange }) => readonly(exchange.programId)),
  ];
  caller.invoke({ program: programId, accounts, data }, (frame) => {
    frame.log("Instruction: Route");
    let amount = amountIn;
    for (const [i, { exchange, order }] of hops.entries()) {
      const { mintIn, mintOut } = sides[i] as (typeof sides)[number];
      const before = ledger.amountOf(findTokenAccount(ledger, user, mintOut));
      exchange.swap(frame, { ...order, user, amountIn: amount });
      const out = ledger.amountOf(findTokenAccount(ledger, user, mintOut)) - before;
      emitByCall(frame, self, [
        hex("40c6cde8260871e2"),
        key(exchange.programId),
        key(mintIn),
        u64(amount),
        key(mintOut),
        u64(out),
      ]);
      amount = out;
    }
    if (amount < minimumOut) throw new ProgramError(6_001, "slippage tolerance exceeded");
  });
}
