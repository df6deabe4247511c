import {
  decodeText,
  encodeCall,
  readAddress,
  readBool,
  readBytes32,
  readInt,
  readUint,
} from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, type EntityReading, UnreadableEntity } from "../protocol.ts";
import type { MorphoDeployment } from "./deployment.ts";
import { readToken } from "./read-market.ts";
import { marketRef, type VaultMarket, type VaultState } from "./state.ts";

const NAME = "0x06fdde03";
const SYMBOL = "0x95d89b41";
const ASSET = "0x38d52e0f";
const MORPHO = "0x3acb5624";
const DECIMALS_OFFSET = "0xaea70acc";
const LOST_ASSETS = "0x21cb4b14";
const OWNER = "0x8da5cb5b";
const CURATOR = "0xe66f53b7";
const GUARDIAN = "0x452a9320";
const TIMELOCK = "0xd33219b4";
const FEE = "0xddca3f43";
const FEE_RECIPIENT = "0x46904840";
const TOTAL_SUPPLY = "0x18160ddd";
const LAST_TOTAL_ASSETS = "0x568efc07";
const SUPPLY_QUEUE_LENGTH = "0xa17b3130";
const WITHDRAW_QUEUE_LENGTH = "0x33f91ebb";
const SUPPLY_QUEUE = "0xf7d18521";
const WITHDRAW_QUEUE = "0x62518ddf";
const CONFIG = "0xcc718f76";
const PENDING_CAP = "0xa31be5d6";
/** A function of Morpho; all others above are the vault's. */
const POSITION = "0x93c52062";

interface ReadContext {
  readonly reader: ContractReader;
  readonly previous: VaultState | undefined;
  readonly deployment: MorphoDeployment;
}

/** Reads a vault; it refers to its markets. */
export async function readVault(vault: Hex, context: ReadContext): Promise<EntityReading<VaultState>> {
  const call = callsTo(vault, context.reader);
  const [identity, settings, supplyQueue, withdrawQueue] = await Promise.all([
    readIdentity(vault, context),
    readSettings(call),
    readQueue(call, SUPPLY_QUEUE_LENGTH, SUPPLY_QUEUE),
    readQueue(call, WITHDRAW_QUEUE_LENGTH, WITHDRAW_QUEUE),
  ]);
  const { morpho } = context.deployment;
  const callMorpho = callsTo(morpho, context.reader);
  const markets = await Promise.all(
    withdrawQueue.map(async (id): Promise<VaultMarket> => {
      const [config, pending, position] = await Promise.all([
        call(CONFIG, [id]),
        call(PENDING_CAP, [id]),
        callMorpho(POSITION, [id, vault]),
      ]);
      return {
        id,
        cap: readUint(config, 0),
        enabled: readBool(config, 1),
        removableAt: readInt(config, 2),
        pendingCap: { value: readUint(pending, 0), validAt: readInt(pending, 1) },
        shares: readUint(position, 0),
      };
    }),
  );
  const references = [...new Set([...withdrawQueue, ...supplyQueue])].map(marketRef);
  return { state: { ...identity, ...settings, supplyQueue, markets }, references };
}

type Call = (selector: Hex, args?: readonly (Hex | number)[]) => Promise<Hex>;

/** Calls of a contract that reject with UnreadableEntity where they revert. */
function callsTo(contract: Hex, reader: ContractReader): Call {
  return async (selector, args = []) => {
    const returned = await reader.call(contract, encodeCall(selector, args));
    if (returned === null) throw new UnreadableEntity(`${selector} of ${contract} reverts`);
    return returned;
  };
}

type Identity = Pick<VaultState, "name" | "symbol" | "asset" | "decimalsOffset" | "lostAssets">;

/** Immutable in v1.0; v1.1, the version with lostAssets(), can be replaceTexts. */
async function readIdentity(vault: Hex, { reader, previous, deployment }: ReadContext): Promise<Identity> {
  if (previous !== undefined && previous.lostAssets === null) {
    const { name, symbol, asset, decimalsOffset, lostAssets } = previous;
    return { name, symbol, asset, decimalsOffset, lostAssets };
  }
  const call = callsTo(vault, reader);
  const [name, symbol, lost, immutable] = await Promise.all([
    call(NAME),
    call(SYMBOL),
    reader.call(vault, encodeCall(LOST_ASSETS)),
    previous ?? readImmutable(vault, { reader, deployment }),
  ]);
  if (lost === null && previous !== undefined)
    throw new UnreadableEntity(`lostAssets() of ${vault} reverts now`);
  return {
    name: decodeText(name) ?? "",
    symbol: decodeText(symbol) ?? "",
    asset: immutable.asset,
    decimalsOffset: immutable.decimalsOffset,
    lostAssets: lost === null ? null : readUint(lost, 0),
  };
}

async function readImmutable(
  vault: Hex,
  { reader, deployment }: Omit<ReadContext, "previous">,
): Promise<Pick<VaultState, "asset" | "decimalsOffset">> {
  const call = callsTo(vault, reader);
  const [asset, morphoData, offset] = await Promise.all([call(ASSET), call(MORPHO), call(DECIMALS_OFFSET)]);
  const morpho = readAddress(morphoData, 0);
  if (morpho !== deployment.morpho)
    throw new UnreadableEntity(`${vault} is a vault on ${morpho}, not on ${deployment.morpho}`);
  return { asset: await readToken(reader, readAddress(asset, 0)), decimalsOffset: readInt(offset, 0) };
}

async function readSettings(call: Call) {
  const [owner, curator, guardian, feeRecipient, timelock, fee, totalSupply, lastTotalAssets] =
    await Promise.all([
      call(OWNER),
      call(CURATOR),
      call(GUARDIAN),
      call(FEE_RECIPIENT),
      call(TIMELOCK),
      call(FEE),
      call(TOTAL_SUPPLY),
      call(LAST_TOTAL_ASSETS),
    ]);
  return {
    owner: readAddress(owner, 0),
    curator: readAddress(curator, 0),
    guardian: readAddress(guardian, 0),
    feeRecipient: readAddress(feeRecipient, 0),
    timelock: readInt(timelock, 0),
    fee: readUint(fee, 0),
    totalSupply: readUint(totalSupply, 0),
    lastTotalAssets: readUint(lastTotalAssets, 0),
  };
}

async function readQueue(call: Call, length: Hex, item: Hex): Promise<Hex[]> {
  const count = readInt(await call(length), 0);
  return Promise.all(Array.from({ length: count }, async (_, i) => readBytes32(await call(item, [i]), 0)));
}
