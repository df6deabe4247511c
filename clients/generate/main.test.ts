import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { defineEndpoint } from "../../services/shared/contract/define.ts";
import { chainId, evmAddress, evmAddresses, evmPage, oneOf } from "../../services/shared/contract/param.ts";
import { generateClients, renderClients } from "./main.ts";
import { renderPython } from "./python.ts";
import { renderTypeScript } from "./typescript.ts";

const SAMPLE = defineEndpoint({
  family: "evm-dex",
  path: "/evm/sample/price-list",
  summary: "Prices",
  mediaType: "application/json",
  body: "array",
  params: {
    chain_id: chainId([1, 8453]),
    token_address: evmAddress({ description: "A token." }),
    pools: evmAddresses({ description: "Some pools." }).optional(),
    kind: oneOf(["spot", "mean"], { description: "Kind of price, as in a */ b." }).optional(),
    ...evmPage(),
  },
  columns: [
    { name: "token", type: "String", description: "A token.", sortable: true },
    { name: "supply", type: "UInt64", description: "Its supply.", nullable: true },
    { name: "steps", type: "Array(Tuple(UInt256, Nullable(Float64), Bool))", description: "Its steps." },
    { name: "priceUsd", type: "Nullable(Float64)", unit: "USD", description: "Its price." },
  ],
  rowOrder: "by token",
  whenAbsent: "empty",
});

describe("the generated parts of clients", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "clients-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("match the declarations", async () => {
    expect(await generateClients({ check: true })).to.deep.equal([]);
  });

  it("are written whole, and a file that is missing or differs is named", async () => {
    const there = pathToFileURL(`${folder}/`);
    const paths = Object.keys(renderClients());
    for (const path of paths) await mkdir(dirname(join(folder, path)), { recursive: true });
    expect(await generateClients({ check: true, folder: there })).to.have.length(paths.length);
    expect(await generateClients({ check: false, folder: there })).to.deep.equal([]);
    expect(await generateClients({ check: true, folder: there })).to.deep.equal([]);
    const first = join(folder, paths[0] ?? "");
    await writeFile(first, `${await readFile(first, "utf8")} `);
    const [fault] = await generateClients({ check: true, folder: there });
    expect(fault).to.include(paths[0]).and.include("npm run generate");
  });

  it("have of an endpoint in TypeScript its parameters, its rows and its largest page", () => {
    const lines = renderTypeScript([SAMPLE]).split("\n");
    const members = lines.filter((line) => line.startsWith("  ") && !/^ +(\/\*\*|\|)/.test(line));
    expect(members).to.deep.equal([
      "  readonly chain_id?: number | undefined;",
      "  readonly token_address: string;",
      "  readonly pools?: readonly string[] | undefined;",
      '  readonly kind?: "spot" | "mean" | undefined;',
      "  readonly limit?: number | undefined;",
      "  readonly offset?: number | undefined;",
      '  readonly order_asc?: readonly ("token" | "")[] | undefined;',
      '  readonly order_desc?: readonly ("token" | "")[] | undefined;',
      "  readonly token: string;",
      "  readonly supply: number | string | null;",
      "  readonly steps: readonly (readonly [string, number | null, boolean])[];",
      "  readonly priceUsd: number | null;",
      '  readonly "/evm/sample/price-list": { readonly params: EvmSamplePriceListParams; readonly row: EvmSamplePriceListRow };',
      '  "/evm/sample/price-list": 10000,',
    ]);
    expect(lines).to.include("  /** Its price. Unit: USD. Type: Nullable(Float64). */");
    expect(lines).to.include("  /** Kind of price, as in a * / b. */");
    expect(lines.find((line) => line.includes("to return at most"))).to.match(
      /Bounds: at least 1, at most 10000. Default: 100/,
    );
  });
  it("have of an endpoint in Python the same, with a method for the table and one for all rows", () => {
    const text = renderPython([SAMPLE]);
    const lines = text.split("\n");
    const members = lines.filter((line) => /^ {4}\w+: |^ {8}\w+: \w|^ {4}def \w+_|^ {8}return/.test(line));
    const parameters = [
      "        chain_id: int | None = None,",
      "        token_address: str,",
      "        pools: Sequence[str] | None = None,",
      '        kind: Literal["spot", "mean"] | None = None,',
      "        limit: int | None = None,",
      "        offset: int | None = None,",
      "        order_asc: Sequence[EvmSamplePriceListOrder] | None = None,",
      "        order_desc: Sequence[EvmSamplePriceListOrder] | None = None,",
    ];
    const passed =
      "chain_id=chain_id, token_address=token_address, pools=pools, kind=kind, limit=limit, offset=offset, order_asc=order_asc, order_desc=order_desc";
    expect(members).to.deep.equal([
      "    token: str",
      "    supply: int | str | None",
      "    steps: list[list[str | float | bool | None]]",
      "    priceUsd: float | None",
      "    def evm_sample_price_list(",
      ...parameters,
      `        return self.get("/evm/sample/price-list", ${passed})`,
      "    def iter_evm_sample_price_list(",
      ...parameters,
      `        return self.rows("/evm/sample/price-list", ${passed})`,
    ]);
    expect(lines).to.include('    "/evm/sample/price-list": 10000,');
    expect(lines).to.include('EvmSamplePriceListOrder = Literal["token", ""]');
    expect(lines).to.include("    #: Its price. Unit: USD. Type: Nullable(Float64).");
  });
});
