import {
  ASSOCIATED_TOKEN_PROGRAM,
  findProgramAddress,
  METADATA_PROGRAM,
  metadataAddress,
  TOKEN_PROGRAM,
} from "../../../../services/solana/chain/program-address.ts";
import { RENT, SYSTEM_PROGRAM } from "../chain/addresses.ts";
import { hex, i64, join, key, text, u8, u64 } from "../chain/bytes.ts";
import { type Caller, readonly, writable } from "../chain/execution.ts";
import { createAccount, ensureTokenAccount, mintTo } from "../chain/token-program.ts";
import { emitByCall, type Pool } from "./pool.ts";
import { CURVE, findCreator, PUMP_PROGRAM } from "./pump-fun.ts";

const EVENT_AUTHORITY = findProgramAddress(["__event_authority"], PUMP_PROGRAM);
const MINT_AUTHORITY = findProgramAddress(["mint-authority"], PUMP_PROGRAM);
const GLOBAL = findProgramAddress(["global"], PUMP_PROGRAM);

export interface Launch {
  readonly pool: Pool;
  readonly user: string;
  readonly name: string;
  readonly symbol: string;
  readonly uri: string;
}

/** Pump.fun's create: a mint, its curve, its metadata, and the whole supply on the curve; there is no mint authority. */
export function launchToken(caller: Caller, { pool, user, name, symbol, uri }: Launch): void {
  const [mint] = pool.mints;
  const accounts = [
    writable(mint),
    readonly(MINT_AUTHORITY),
    ...[pool.address, pool.vaults[0]].map(writable),
    ...[GLOBAL, METADATA_PROGRAM].map(readonly),
    ...[metadataAddress(mint), user].map(writable),
    ...[SYSTEM_PROGRAM, TOKEN_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, RENT, EVENT_AUTHORITY, PUMP_PROGRAM].map(
      readonly,
    ),
  ];
  const data = join(hex("181ec828051c0777"), text(name), text(symbol), text(uri), key(findCreator(pool)));
  caller.invoke({ program: PUMP_PROGRAM, accounts, data }, (frame) => {
    const { ledger } = frame;
    frame.log("Instruction: Create");
    createAccount(frame, {
      payer: user,
      address: mint,
      lamports: 1_461_600n,
      space: 82,
      owner: TOKEN_PROGRAM,
    });
    frame.invoke(
      {
        program: TOKEN_PROGRAM,
        accounts: [writable(mint)],
        data: join(u8(20), u8(6), key(MINT_AUTHORITY), u8(0)),
      },
      () =>
        ledger.mints.set(mint, {
          decimals: 6,
          program: TOKEN_PROGRAM,
          supply: 0n,
          mintAuthority: MINT_AUTHORITY,
          freezeAuthority: null,
        }),
    );
    createAccount(frame, {
      payer: user,
      address: pool.address,
      lamports: 1_231_920n,
      space: 49,
      owner: PUMP_PROGRAM,
    });
    ensureTokenAccount(frame, { payer: user, owner: pool.address, mint });
    frame.invoke(
      {
        program: METADATA_PROGRAM,
        accounts: [
          writable(metadataAddress(mint)),
          ...[mint, MINT_AUTHORITY].map(readonly),
          writable(user),
          readonly(MINT_AUTHORITY),
          readonly(SYSTEM_PROGRAM),
        ],
        data: join(u8(33), text(name), text(symbol), text(uri), hex("000000000000000000")),
      },
      (inner) =>
        createAccount(inner, {
          payer: user,
          address: metadataAddress(mint),
          lamports: 15_616_720n,
          space: 679,
          owner: METADATA_PROGRAM,
        }),
    );
    mintTo(frame, { mint, account: pool.vaults[0], authority: MINT_AUTHORITY, amount: CURVE.supply });
    frame.invoke(
      { program: TOKEN_PROGRAM, accounts: [writable(mint), readonly(MINT_AUTHORITY)], data: hex("060000") },
      () => ledger.mints.set(mint, { ...ledger.mint(mint), mintAuthority: null }),
    );
    emitByCall(frame, { programId: PUMP_PROGRAM, eventAuthority: EVENT_AUTHORITY }, [
      hex("1b72a94ddeeb6376"),
      ...[text(name), text(symbol), text(uri)],
      ...[mint, pool.address, user, findCreator(pool)].map(key),
      i64(frame.time),
      ...[CURVE.virtualTokens, CURVE.virtualSol, CURVE.realTokens, CURVE.supply].map(u64),
    ]);
  });
}
