import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { KINDS, type Kind } from "../../protocols/protocol.ts";
import { ColumnReader, ColumnWriter, DamagedColumn } from "./columns.ts";

/** Not a file of pools, one of another version, or one that was changed or cut. */
export class BadPoolsFile extends Error {
  override readonly name = "BadPoolsFile";
}

/** A factory, or a voter, and what the file knows of it. */
export interface FileContract {
  readonly address: string;
  readonly finds: "pools" | "gauges";
  /** Kind of its pools; of a voter's first factory. */
  readonly protocol: Kind;
  /** The file has all that it created from here on ... */
  readonly fromBlock: number;
  /** ... up to here, inclusive: a final block. */
  readonly blockNumber: number;
}

export interface FileToken {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
}

/** The parts of a pool's row that do not follow from its factory; tokens by their index in the file. */
export interface FilePool {
  readonly address: string;
  /** Index in `contracts`. */
  readonly contract: number;
  readonly token0: number;
  readonly token1: number;
  readonly createdBlock: number;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Hundredths of a bip. */
  readonly fee: number;
  readonly tickSpacing: number;
  readonly stable: boolean;
}

export interface FileGauge {
  readonly gauge: string;
  readonly poolAddress: string;
  /** Index in `contracts`. */
  readonly contract: number;
  readonly createdBlock: number;
}

interface Head {
  readonly chainId: number;
  /** Hash of block 0. */
  readonly genesisHash: string;
  readonly contracts: readonly FileContract[];
}

interface Header extends Head {
  readonly tokens: number;
  readonly pools: number;
  readonly gauges: number;
  /** Of the unpacked body. */
  readonly bodyBytes: number;
}

/** A file that was read and checked. Pools and gauges are unpacked one at a time: half a million rows are 300 MB. */
export interface PoolsFile extends Head {
  readonly sha256: string;
  readonly tokens: readonly FileToken[];
  readonly poolCount: number;
  readonly gaugeCount: number;
  pools(): Generator<FilePool, void, undefined>;
  gauges(): Generator<FileGauge, void, undefined>;
}

const MAGIC = "chaintables pools 1\n";
const HASH_BYTES = 32;
/** Twenty times the pools of Base: a small file must not unpack to all memory. */
const MAX_BODY_BYTES = 1_000_000_000;
const [zip, unzip] = [promisify(gzip), promisify(gunzip)];
/** int24, which may be negative. */
const SPACING_OFFSET = 2 ** 23;

const TOKEN_COLUMNS = ["address", "decimals", "symbol"] as const;
const POOL_COLUMNS = [
  "address",
  "contract",
  "token0",
  "token1",
  "block",
  "time",
  "fee",
  "spacing",
  "stable",
] as const;
const GAUGE_COLUMNS = ["gauge", "pool", "contract", "block"] as const;

/** Collects pools, and packs them: one column a field, since equal kinds of values pack best side by side. */
export class PoolsFileWriter {
  readonly #head: Head;
  readonly #tokenIds = new Map<string, number>();
  readonly #tokens = createColumns(TOKEN_COLUMNS);
  readonly #pools = createColumns(POOL_COLUMNS);
  readonly #gauges = createColumns(GAUGE_COLUMNS);
  #poolCount = 0;
  #gaugeCount = 0;

  constructor(head: Head) {
    this.#head = head;
  }

  get counts(): { readonly pools: number; readonly tokens: number; readonly gauges: number } {
    return { pools: this.#poolCount, tokens: this.#tokenIds.size, gauges: this.#gaugeCount };
  }

  /** The index of a token, for pools. */
  token({ address, symbol, decimals }: FileToken): number {
    const known = this.#tokenIds.get(address);
    if (known !== undefined) return known;
    const id = this.#tokenIds.size;
    this.#tokenIds.set(address, id);
    this.#tokens.address.address(address);
    this.#tokens.decimals.integer(decimals);
    this.#tokens.symbol.text(symbol);
    return id;
  }

  pool(pool: FilePool): void {
    const columns = this.#pools;
    columns.address.address(pool.address);
    columns.contract.integer(pool.contract);
    columns.token0.integer(pool.token0);
    columns.token1.integer(pool.token1);
    columns.block.integer(pool.createdBlock);
    columns.time.integer(pool.createdAt);
    columns.fee.integer(pool.fee);
    columns.spacing.integer(pool.tickSpacing + SPACING_OFFSET);
    columns.stable.integer(pool.stable ? 1 : 0);
    this.#poolCount += 1;
  }

  gauge({ gauge, poolAddress, contract, createdBlock }: FileGauge): void {
    const columns = this.#gauges;
    columns.gauge.address(gauge);
    columns.pool.address(poolAddress);
    columns.contract.integer(contract);
    columns.block.integer(createdBlock);
    this.#gaugeCount += 1;
  }

  /** The file, and the SHA-256 that it ends with. */
  async pack(): Promise<{ bytes: Buffer; sha256: string }> {
    const body = new ColumnWriter();
    for (const columns of [this.#tokens, this.#pools, this.#gauges])
      for (const column of Object.values(columns)) body.column(column);
    const header: Header = { ...this.#head, ...this.counts, bodyBytes: body.bytes.length };
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    const content = [Buffer.from(MAGIC), length, text, await zip(body.bytes, { level: 6 })];
    const hash = createHash("sha256");
    for (const part of content) hash.update(part);
    const digest = hash.digest();
    return { bytes: Buffer.concat([...content, digest]), sha256: digest.toString("hex") };
  }
}

/** Throws BadPoolsFile; a changed byte anywhere shows in the hash before anything else is read. */
export async function readPoolsFile(bytes: Buffer): Promise<PoolsFile> {
  if (bytes.subarray(0, MAGIC.length).toString("latin1") !== MAGIC)
    throw new BadPoolsFile(`it does not begin with "${MAGIC.trim()}"`);
  const content = bytes.subarray(0, -HASH_BYTES);
  const sha256 = createHash("sha256").update(content).digest("hex");
  const stated = bytes.subarray(-HASH_BYTES).toString("hex");
  if (sha256 !== stated)
    throw new BadPoolsFile(`its SHA-256 is ${sha256}, it states ${stated}: it was changed or cut`);
  try {
    const start = MAGIC.length + 4;
    const end = start + content.readUInt32LE(MAGIC.length);
    const header = readHeader(JSON.parse(content.subarray(start, end).toString("utf8")));
    const body = await unzip(content.subarray(end), { maxOutputLength: header.bodyBytes });
    return readBody(new ColumnReader(body), { header, sha256 });
  } catch (error) {
    const isFault =
      error instanceof DamagedColumn || error instanceof SyntaxError || error instanceof RangeError;
    if (!isFault && !(error instanceof Error && "code" in error)) throw error;
    throw new BadPoolsFile((error as Error).message, { cause: error });
  }
}

function readBody(body: ColumnReader, { header, sha256 }: { header: Header; sha256: string }): PoolsFile {
  const {
    chainId,
    genesisHash,
    contracts,
    pools: poolCount,
    gauges: gaugeCount,
    tokens: tokenCount,
  } = header;
  const read = <N extends string>(names: readonly N[]) =>
    Object.fromEntries(names.map((name) => [name, body.column()])) as Record<N, ColumnReader>;
  const tokenColumns = read(TOKEN_COLUMNS);
  const tokens = Array.from({ length: tokenCount }, () => ({
    address: tokenColumns.address.address(),
    symbol: tokenColumns.symbol.text(),
    decimals: tokenColumns.decimals.index(256),
  }));
  const poolStart = read(POOL_COLUMNS);
  const gaugeStart = read(GAUGE_COLUMNS);
  const ends = [body, ...Object.values(tokenColumns)];
  if (!ends.every(({ isAtEnd }) => isAtEnd)) throw new DamagedColumn("it is longer than its header says");

  function* pools(): Generator<FilePool, void, undefined> {
    const columns = copyOf(poolStart);
    for (let i = 0; i < poolCount; i++)
      yield {
        address: columns.address.address(),
        contract: columns.contract.index(contracts.length),
        token0: columns.token0.index(tokenCount),
        token1: columns.token1.index(tokenCount),
        createdBlock: columns.block.integer(),
        createdAt: columns.time.integer(),
        fee: columns.fee.integer(),
        tickSpacing: columns.spacing.index(2 * SPACING_OFFSET) - SPACING_OFFSET,
        stable: columns.stable.index(2) === 1,
      };
    requireEnd(columns);
  }
  function* gauges(): Generator<FileGauge, void, undefined> {
    const columns = copyOf(gaugeStart);
    for (let i = 0; i < gaugeCount; i++)
      yield {
        gauge: columns.gauge.address(),
        poolAddress: columns.pool.address(),
        contract: columns.contract.index(contracts.length),
        createdBlock: columns.block.integer(),
      };
    requireEnd(columns);
  }
  return { chainId, genesisHash, contracts, sha256, tokens, poolCount, gaugeCount, pools, gauges };
}

function requireEnd(columns: Record<string, ColumnReader>): void {
  if (!Object.values(columns).every(({ isAtEnd }) => isAtEnd))
    throw new DamagedColumn("a column is longer than its header says");
}

function readHeader(value: unknown): Header {
  const header = value as Partial<Header> | null;
  const counts = [header?.chainId, header?.tokens, header?.pools, header?.gauges, header?.bodyBytes];
  const isWhole =
    counts.every(isCount) &&
    /^0x[0-9a-f]{64}$/.test(String(header?.genesisHash)) &&
    Array.isArray(header?.contracts) &&
    header.contracts.every(isContract);
  if (!isWhole) throw new DamagedColumn("its header lacks fields");
  const whole = header as Header;
  if (whole.bodyBytes > MAX_BODY_BYTES) throw new DamagedColumn(`it unpacks to ${whole.bodyBytes} bytes`);
  return whole;
}

function isContract(value: unknown): value is FileContract {
  const contract = value as Partial<FileContract> | null;
  return (
    /^0x[0-9a-f]{40}$/.test(String(contract?.address)) &&
    (contract?.finds === "pools" || contract?.finds === "gauges") &&
    (KINDS as readonly unknown[]).includes(contract.protocol) &&
    isCount(contract.fromBlock) &&
    Number.isSafeInteger(contract.blockNumber)
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function createColumns<N extends string>(names: readonly N[]): Record<N, ColumnWriter> {
  return Object.fromEntries(names.map((name) => [name, new ColumnWriter()])) as Record<N, ColumnWriter>;
}

function copyOf<N extends string>(columns: Record<N, ColumnReader>): Record<N, ColumnReader> {
  return Object.fromEntries(
    Object.entries<ColumnReader>(columns).map(([name, column]) => [name, column.fromStart()]),
  ) as Record<N, ColumnReader>;
}
