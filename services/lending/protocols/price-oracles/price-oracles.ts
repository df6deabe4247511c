import { encodeCall, readAddress, readInt, readSigned, readUint } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { type ContractReader, type EntitySource, UnreadableEntity } from "../protocol.ts";
import type { OracleDeployment } from "./deployment.ts";
import { CHAINLINK, type OraclePrice, type OracleState, oracleRef, PRICE_ORACLE } from "./state.ts";

const SELECTORS = {
  // PoolAddressesProvider
  getPool: "0x026b1d5f",
  getPriceOracle: "0xfca513a8",
  // Pool
  getReservesList: "0xd1946dbc",
  // AaveOracle
  BASE_CURRENCY: "0xe19f4700",
  BASE_CURRENCY_UNIT: "0x8c89b64f",
  getAssetPrice: "0xb3596f07",
  // Chainlink's proxy
  decimals: "0x313ce567",
  latestRoundData: "0xfeaf968c",
} as const satisfies Record<string, Hex>;

/** Feeds are told at least once a day; the hour more is for a transaction that waits. */
const MAX_FEED_AGE_S = 25 * 3_600;

/**
 * The chain's trusted oracles: those of the Aave markets, for every reserve that is listed there, and Chainlink's feeds.
 * A price changes without an event, so that all are read at every head. A vault's own oracle is not among them: whoever
 * creates the vault chooses it.
 */
export const priceOracles: EntitySource<OracleDeployment> = {
  kinds: [PRICE_ORACLE],
  topics: [],
  volatile: { [PRICE_ORACLE]: () => true },
  roots: ({ aave, feeds }) => [...aave, ...(feeds.length > 0 ? [CHAINLINK] : [])].map(oracleRef),
  scans: () => [],
  affectedEntities: () => [],
  async read({ id }, { reader, deployment }) {
    const state = id === CHAINLINK ? await readFeeds(deployment, reader) : await readAave(id as Hex, reader);
    return { state };
  },
};

async function readAave(provider: Hex, reader: ContractReader): Promise<OracleState> {
  const call = callsOf(reader);
  const [pool, oracle] = await Promise.all([
    call(provider, "getPool").then((data) => readAddress(data, 0)),
    call(provider, "getPriceOracle").then((data) => readAddress(data, 0)),
  ]);
  const [listed, currency, unitData] = await Promise.all([
    call(pool, "getReservesList"),
    call(oracle, "BASE_CURRENCY"),
    call(oracle, "BASE_CURRENCY_UNIT"),
  ]);
  const unit = readUint(unitData, 0);
  // The zero address means USD.
  if (BigInt(readAddress(currency, 0)) !== 0n || unit === 0n)
    throw new UnreadableEntity(`The oracle ${oracle} does not count in USD`);
  const prices = await Promise.all(
    readAddresses(listed).map(async (token): Promise<OraclePrice[]> => {
      const data = await reader.call(oracle, encodeCall(SELECTORS.getAssetPrice, [token]));
      const answer = data === null ? 0n : readUint(data, 0);
      return answer === 0n ? [] : [{ token, answer, unit, toldAt: null }];
    }),
  );
  return { source: "aave", prices: prices.flat() };
}

/** A feed that does not answer, or was told nothing for a day, has no price. */
async function readFeeds({ feeds }: OracleDeployment, reader: ContractReader): Promise<OracleState> {
  const prices = await Promise.all(
    feeds.map(async ({ token, feed }): Promise<OraclePrice[]> => {
      const [decimals, round] = await Promise.all([
        reader.call(feed, SELECTORS.decimals),
        reader.call(feed, SELECTORS.latestRoundData),
      ]);
      if (decimals === null || round === null) return [];
      const answer = readSigned(round, 1);
      const toldAt = readInt(round, 3);
      if (answer <= 0n || reader.time - toldAt > MAX_FEED_AGE_S) return [];
      return [{ token, answer, unit: 10n ** readUint(decimals, 0), toldAt }];
    }),
  );
  return { source: "chainlink", prices: prices.flat() };
}

function callsOf(reader: ContractReader) {
  return async (to: Hex, name: keyof typeof SELECTORS): Promise<Hex> => {
    const data = await reader.call(to, SELECTORS[name]);
    if (data === null) throw new UnreadableEntity(`${name} of ${to} reverts`);
    return data;
  };
}

/** Decodes an address[]: its offset, its length, its words. */
function readAddresses(data: Hex): Hex[] {
  const start = readInt(data, 0) / 32;
  return Array.from({ length: readInt(data, start) }, (_, i) => readAddress(data, start + 1 + i));
}
