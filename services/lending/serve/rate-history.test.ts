import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { Pacer } from "../../shared/service/pacer.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import type { EntityRef, LendingProtocol } from "../protocols/protocol.ts";
import type { VaultRow } from "../protocols/rows.ts";
import { entityHistory } from "../store/collections.ts";
import { toStateText } from "../store/state-text.ts";
import { address, fakeProtocol, vaultRow } from "../test/fake-protocol.ts";
import { CHAIN_ID, openTestStore } from "../test/stored.ts";
import { RateHistory } from "./rate-history.ts";

const HOUR = 3_600;
/** A whole hour. */
const T = 1_700_002_800;
const VAULT = address(0xb1);

describe("RateHistory", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const put1 = (id: string, time: number, state: number | string) =>
    store.write([
      put(entityHistory, [
        {
          ...{ chainId: CHAIN_ID, kind: "vault", id, hour: time - (time % HOUR) },
          ...{ block: time, blockHash: `0x${time}`, time, state: toStateText(state) },
        },
      ]),
    ]);
  /** A vault holds the number that its state is; those that it names are below it. */
  const historyOf = (entitiesOf: LendingProtocol["entitiesOf"]) => {
    const protocol: LendingProtocol = {
      ...fakeProtocol("euler-v2"),
      ...(entitiesOf && { entitiesOf }),
      *rows(entities) {
        let supply = 0;
        for (const { state } of entities.all<number>("vault")) supply += state;
        yield vaultRow({ protocolId: "euler-v2", address: VAULT, supply });
      },
    };
    const target = { id: VAULT, underlying: undefined };
    return new RateHistory(store, {
      chainId: CHAIN_ID,
      deployed: { protocol, deployment: undefined },
      target,
    });
  };
  const supplyAt = async (history: RateHistory, time: number) =>
    ((await history.rowAt(time, new Pacer())) as VaultRow | undefined)?.supply;

  it("takes of each part the last state up to a time, and follows what a state names", async () => {
    await put1(VAULT, T + 10, 1);
    await put1("part", T + 20, 10);
    await put1(VAULT, T + 2 * HOUR, 2);
    const ref = (id: string): EntityRef => ({ kind: "vault", id });
    const history = historyOf(({ id }, { entities }) =>
      entities.get("vault", id) === undefined ? [ref(id)] : [ref(id), ref("part")],
    );
    expect(await supplyAt(history, T - 1)).to.equal(undefined);
    expect(await supplyAt(history, T + HOUR - 1)).to.equal(11);
    expect(await supplyAt(history, T + 2 * HOUR - 1)).to.equal(11);
    expect(await supplyAt(history, T + 3 * HOUR)).to.equal(12);
    expect(await supplyAt(history, T + HOUR - 1), "back again").to.equal(11);
  });

  it("refuses what is made of more than anybody needs: vaults of vaults of vaults", async () => {
    await put1(VAULT, T, 1);
    let made = 0;
    const history = historyOf(() => Array.from({ length: 50 }, () => ({ kind: "vault", id: `${made++}` })));
    const error = await history.rowAt(T + 1, new Pacer()).catch((caught: unknown) => caught);
    expect(error).to.include({ code: "bad_request" });
    expect(made).to.be.below(1_000);
  });

  it("has none of a protocol that does not tell its parts", async () => {
    await put1(VAULT, T, 1);
    expect(await supplyAt(historyOf(undefined), T + 1)).to.equal(undefined);
  });
});
