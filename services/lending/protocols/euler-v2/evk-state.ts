import { decodeText, readAddress, readInt } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import type { ContractReader, TokenMetadata } from "../protocol.ts";
import type { Books } from "./accrual.ts";
import { type Contract, contractAt } from "./calls.ts";
import { type Hooks, tryHooked } from "./hooks.ts";

export type Token = Pick<TokenMetadata, "address" | "symbol" | "decimals">;

/** A vault whose shares are accepted as collateral. LTVs are ten-thousandths. */
export type Collateral = {
  readonly vault: string;
  /** The vault's underlying token; its share token where it has no asset(). */
  readonly token: Token;
  readonly borrowLtv: number;
  readonly liquidationLtv: number;
  /** Ramp of a lowered liquidation LTV: its start value, and its end (Unix seconds; 0 = never ramped). */
  readonly initialLiquidationLtv: number;
  readonly rampEnd: number;
  readonly rampSeconds: number;
};

/** Immutable fields, read once. */
type EvkIdentity = {
  readonly asset: Token;
  readonly name: string;
  readonly symbol: string;
  /** Zero address = none. */
  readonly oracle: string;
  readonly unitOfAccount: string;
  readonly dToken: string;
  /** Who had the factory make the vault, and was its first governor. */
  readonly creator: string;
};

export type EvkState = EvkIdentity &
  Hooks & {
    /** With interest up to the block of the reading. */
    readonly books: Books;
    readonly interestRateModel: string;
    readonly governorAdmin: string;
    readonly configFlags: number;
    /** Both encoded as AmountCap. */
    readonly supplyCap: number;
    readonly borrowCap: number;
    readonly collaterals: readonly Collateral[];
  };

/** Reads an EVK vault. Rejects with UnreadableEntity. */
export async function readEvk(
  vault: string,
  { reader, previous }: { reader: ContractReader; previous: EvkState | undefined },
): Promise<EvkState> {
  const contract = contractAt(reader, vault);
  const [identity, books, settings, collaterals] = await Promise.all([
    // States of an earlier version have no creator.
    previous?.creator === undefined ? readIdentity(contract, reader) : identityOf(previous),
    readBooks(contract),
    readSettings(contract).then(async (settings) => ({
      ...settings,
      refused: await tryHooked(vault as Hex, settings, reader),
    })),
    readCollaterals(contract, { reader, known: previous?.collaterals ?? [] }),
  ]);
  return { ...identity, books, ...settings, collaterals };
}

function identityOf({ asset, name, symbol, oracle, unitOfAccount, dToken, creator }: EvkState): EvkIdentity {
  return { asset, name, symbol, oracle, unitOfAccount, dToken, creator };
}

async function readIdentity(contract: Contract, reader: ContractReader): Promise<EvkIdentity> {
  const [asset, name, symbol, oracle, unitOfAccount, dToken, creator] = await Promise.all([
    contract.address("asset()"),
    contract.tryCall("name()"),
    contract.tryCall("symbol()"),
    contract.address("oracle()"),
    contract.address("unitOfAccount()"),
    contract.address("dToken()"),
    contract.address("creator()"),
  ]);
  return {
    asset: await readToken(asset, reader),
    name: decodeText(name) ?? "",
    symbol: decodeText(symbol) ?? "",
    oracle,
    unitOfAccount,
    dToken,
    creator,
  };
}

async function readBooks(contract: Contract): Promise<Books> {
  const [cash, shares, fees, debt, accumulator, rate, interestFee] = await Promise.all([
    contract.uint("cash()"),
    contract.uint("totalSupply()"),
    contract.uint("accumulatedFees()"),
    contract.uint("totalBorrowsExact()"),
    contract.uint("interestAccumulator()"),
    contract.uint("interestRate()"),
    contract.read("interestFee()", (data) => readInt(data, 0)),
  ]);
  return { cash, shares, fees, debt, accumulator, rate, interestFee };
}

async function readSettings(contract: Contract) {
  const [interestRateModel, governorAdmin, configFlags, caps, hooks] = await Promise.all([
    contract.address("interestRateModel()"),
    contract.address("governorAdmin()"),
    contract.read("configFlags()", (data) => readInt(data, 0)),
    contract.read("caps()", (data) => ({ supplyCap: readInt(data, 0), borrowCap: readInt(data, 1) })),
    contract.read("hookConfig()", (data) => ({
      hookTarget: readAddress(data, 0),
      hookedOps: readInt(data, 1),
    })),
  ]);
  return { interestRateModel, governorAdmin, configFlags, ...caps, ...hooks };
}

async function readCollaterals(
  contract: Contract,
  { reader, known }: { reader: ContractReader; known: readonly Collateral[] },
): Promise<Collateral[]> {
  const vaults = await contract.addresses("LTVList()");
  return Promise.all(
    vaults.map(async (vault) => {
      const previous = known.find((each) => each.vault === vault);
      const [ltv, token] = await Promise.all([
        contract.read(
          "LTVFull(address)",
          (data) => ({
            borrowLtv: readInt(data, 0),
            liquidationLtv: readInt(data, 1),
            initialLiquidationLtv: readInt(data, 2),
            rampEnd: readInt(data, 3),
            rampSeconds: readInt(data, 4),
          }),
          [vault],
        ),
        previous?.token ?? readAsset(vault, reader),
      ]);
      return { vault, token, ...ltv };
    }),
  );
}

async function readAsset(vault: string, reader: ContractReader): Promise<Token> {
  const data = await contractAt(reader, vault).tryCall("asset()");
  return readToken(data === null || data.length !== 66 ? vault : readAddress(data, 0), reader);
}

export async function readToken(token: string, reader: ContractReader): Promise<Token> {
  const { address, symbol, decimals } = await reader.token(token);
  return { address, symbol, decimals };
}
