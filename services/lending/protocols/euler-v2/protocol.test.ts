import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeCall } from "../../../shared/evm/abi.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { loadDeployments } from "../../deployments.ts";
import { type ContractReader, UnreadableEntity } from "../protocol.ts";
import { SELECTORS } from "./calls.ts";
import { eulerV2 } from "./protocol.ts";

const FACTORY = "0x29a56a1b8214d9cf7c5561811750d5cbdb45cc8e";
const SECTION = { eVaultFactory: FACTORY, eulerEarnFactories: [{ address: FACTORY, fromBlock: 7 }] };

/** A chain of one contract with given return data. */
function readerOf(answer: (data: Hex) => Hex | null): ContractReader {
  return {
    chainId: 1,
    block: 1,
    time: 1,
    caller: FACTORY,
    call: async (_, data) => answer(data),
    token: async (address) => ({ address, symbol: "T", name: "Token", decimals: 18 }),
  };
}

const words = (...values: (bigint | number)[]): Hex =>
  `0x${values.map((value) => value.toString(16).padStart(64, "0")).join("")}`;

async function read(kind: string, reader: ContractReader) {
  const deployment = eulerV2.parseDeployment(SECTION);
  return eulerV2.read({ kind, id: FACTORY }, { reader, previous: undefined, deployment });
}

const failureOf = (reading: Promise<unknown>) =>
  reading.then(
    () => expect.fail("It was read."),
    (error: unknown) => error as Error,
  );

describe("euler: the protocol", () => {
  it("takes a section with lower-case addresses from it, and names what is wrong in another", () => {
    const parse = (section: unknown) => () => eulerV2.parseDeployment(section);
    const upper = `0x${FACTORY.slice(2).toUpperCase()}`;
    expect(parse({ ...SECTION, eVaultFactory: upper })()).to.deep.equal(SECTION);
    expect(parse({ ...SECTION, eVaultFactory: "0x1" })).to.throw(
      Error,
      /not an EVM address.*\n.*eVaultFactory/,
    );
    expect(parse({ eVaultFactory: FACTORY })).to.throw(Error, /eulerEarnFactories/);
    expect(parse({ ...SECTION, eulerEarnFactories: [{ address: FACTORY, fromBlock: -1 }] })).to.throw(
      Error,
      /eulerEarnFactories\[0\].fromBlock/,
    );
    expect(parse({ ...SECTION, lens: FACTORY })).to.throw(Error, /lens/);
  });

  it("is deployed on Ethereum and Base", () => {
    const chains = loadDeployments(undefined).filter(({ protocols }) =>
      protocols.some(({ protocol }) => protocol.id === "euler-v2"),
    );
    expect(chains.map(({ chainId }) => chainId)).to.deep.equal([1, 8453]);
  });

  it("lists a factory's vaults in pages", async () => {
    const requested: string[] = [];
    const reader = readerOf((data) => {
      if (data === encodeCall(SELECTORS["getProxyListLength()"])) return words(1_001);
      const [start, end] = [10, 74].map((at) => Number.parseInt(data.slice(at, at + 64), 16)) as [
        number,
        number,
      ];
      requested.push(`${start}-${end}`);
      return words(32, end - start, ...Array.from({ length: end - start }, (_, i) => start + i + 1));
    });
    const { state, references } = await read("evk-factory", reader);
    expect(requested).to.deep.equal(["0-500", "500-1000", "1000-1001"]);
    expect(state).to.deep.equal({ vaults: 1_001 });
    expect(references).to.have.length(1_001);
    expect(references?.at(-1)).to.deep.equal({
      kind: "evk-vault",
      id: `0x${(1_001).toString(16).padStart(40, "0")}`,
    });
  });

  // Of a creation nothing is read.
  const readKinds = eulerV2.kinds.filter((kind) => kind !== "earn-creation");

  it("reads the whole list of a perspective, in one order", async () => {
    const { state, references } = await read(
      "euler-perspective",
      readerOf(() => words(32, 2, 9, 7)),
    );
    expect(state).to.deep.equal({ vaults: [`0x${"7".padStart(40, "0")}`, `0x${"9".padStart(40, "0")}`] });
    expect(references).to.equal(undefined);
  });

  it("reports what returns nothing, or other data than a vault, as unreadable", async () => {
    for (const kind of readKinds) {
      for (const answer of [null, "0x", "0x1234", words(2n ** 255n)] as const) {
        const error = await failureOf(
          read(
            kind,
            readerOf(() => answer),
          ),
        );
        expect(error, `${kind} ${answer}`).to.be.instanceOf(UnreadableEntity);
        expect(error.message).to.include(FACTORY);
      }
    }
  });

  it("distinguishes a failing node from a failing vault", async () => {
    const broken = new Error("No endpoint answered.");
    const reader: ContractReader = { ...readerOf(() => null), call: () => Promise.reject(broken) };
    for (const kind of readKinds) expect(await failureOf(read(kind, reader))).to.equal(broken);
  });
});
