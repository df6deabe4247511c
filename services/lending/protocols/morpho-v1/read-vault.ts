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
import { type UnitReader, type UnitReading, UnreadableUnit } from "../protocol.ts";
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
/** Of Morpho. */
const POSITION = "0x93c52062";

interface Source {
  readonly reader: UnitReader;
  readonly previous: VaultState | undefined;
  readonly deployment: MorphoDeployment;
}

/** A vault and its markets, which are found by it. */
export async function readVault(vault: Hex, source: Source): Promise<UnitReading<VaultState>> {
  const must = asker(source.reader, vault);
  const [identity, settings, supplyQueue, withdrawQueue] = await Promise.all([
    readIdentity(vault, source),
    readSettings(must),
    readQueue(must, SUPPLY_QUEUE_LENGTH, SUPPLY_QUEUE),
    readQueue(must, WITHDRAW_QUEUE_LENGTH, WITHDRAW_QUEUE),
  ]);
  const { morpho } = source.deployment;
  const ofMorpho = asker(source.reader, morpho);
  const markets = await Promise.all(
    withdrawQueue.map(async (id): Promise<VaultMarket> => {
      const [config, pending, position] = await Promise.all([
        must(CONFIG, [id]),
        must(PENDING_CAP, [id]),
        ofMorpho(POSITION, [id, vault]),
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
  const found = [...new Set([...withdrawQueue, ...supplyQueue])].map(marketRef);
  return { state: { ...identity, ...settings, supplyQueue, markets }, found };
}

type Ask = (selector: Hex, args?: readonly (Hex | number)[]) => Promise<Hex>;

/** Calls that have to answer. */
function asker(reader: UnitReader, contract: Hex): Ask {
  return async (selector, args = []) => {
    const returned = await reader.call(contract, encodeCall(selector, args));
    if (returned === null) throw new UnreadableUnit(`${contract} does not answer ${selector}`);
    return returned;
  };
}

type Identity = Pick<VaultState, "name" | "symbol" | "asset" | "decimalsOffset" | "lostAssets">;

/** In v1.0 all of it is for ever; v1.1, which is known by lostAssets(), may get another name. */
async function readIdentity(vault: Hex, { reader, previous, deployment }: Source): Promise<Identity> {
  if (previous !== undefined && previous.lostAssets === null) {
    const { name, symbol, asset, decimalsOffset, lostAssets } = previous;
    return { name, symbol, asset, decimalsOffset, lostAssets };
  }
  const must = asker(reader, vault);
  const [name, symbol, lost, fixed] = await Promise.all([
    must(NAME),
    must(SYMBOL),
    reader.call(vault, encodeCall(LOST_ASSETS)),
    previous ?? readFixed(vault, { reader, deployment }),
  ]);
  if (lost === null && previous !== undefined)
    throw new UnreadableUnit(`${vault} no longer answers lostAssets()`);
  return {
    name: decodeText(name) ?? "",
    symbol: decodeText(symbol) ?? "",
    asset: fixed.asset,
    decimalsOffset: fixed.decimalsOffset,
    lostAssets: lost === null ? null : readUint(lost, 0),
  };
}

async function readFixed(
  vault: Hex,
  { reader, deployment }: Omit<Source, "previous">,
): Promise<Pick<VaultState, "asset" | "decimalsOffset">> {
  const must = asker(reader, vault);
  const [asset, morpho, offset] = await Promise.all([must(ASSET), must(MORPHO), must(DECIMALS_OFFSET)]);
  const itsMorpho = readAddress(morpho, 0);
  if (itsMorpho !== deployment.morpho)
    throw new UnreadableUnit(`${vault} is a vault on ${itsMorpho}, not on ${deployment.morpho}`);
  return { asset: await readToken(reader, readAddress(asset, 0)), decimalsOffset: readInt(offset, 0) };
}

async function readSettings(must: Ask) {
  const [owner, curator, guardian, feeRecipient, timelock, fee, totalSupply, lastTotalAssets] =
    await Promise.all([
      must(OWNER),
      must(CURATOR),
      must(GUARDIAN),
      must(FEE_RECIPIENT),
      must(TIMELOCK),
      must(FEE),
      must(TOTAL_SUPPLY),
      must(LAST_TOTAL_ASSETS),
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

async function readQueue(must: Ask, length: Hex, item: Hex): Promise<Hex[]> {
  const count = readInt(await must(length), 0);
  return Promise.all(Array.from({ length: count }, async (_, i) => readBytes32(await must(item, [i]), 0)));
}
