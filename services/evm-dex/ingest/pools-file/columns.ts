/** The file is cut short, or its numbers make no sense: it was not written by this program. */
export class DamagedColumn extends Error {
  override readonly name = "DamagedColumn";
}

/** A column of values as bytes, without a gap between them. */
export class ColumnWriter {
  #bytes = Buffer.allocUnsafe(65_536);
  #length = 0;

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A non-negative safe integer in groups of seven bits, the lowest first. */
  integer(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`Cannot pack ${value}: not an integer ≥ 0`);
    this.#reserve(8);
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 128;
    this.#bytes[this.#length++] = rest;
  }

  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.integer(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(value, this.#length, "utf8");
  }

  /** 20 bytes. */
  address(value: string): void {
    this.#reserve(20);
    const written = this.#bytes.write(value.slice(2), this.#length, 20, "hex");
    if (value.length !== 42 || written !== 20) throw new RangeError(`Cannot pack ${value}: not an address`);
    this.#length += 20;
  }

  /** Another column after its length. */
  column(column: ColumnWriter): void {
    const { bytes } = column;
    this.integer(bytes.length);
    this.#reserve(bytes.length);
    bytes.copy(this.#bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

/** Reads what ColumnWriter wrote. Every method throws DamagedColumn beyond the end. */
export class ColumnReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The same column, unread. */
  fromStart(): ColumnReader {
    return new ColumnReader(this.#bytes);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  integer(): number {
    let [value, unit] = [0, 1];
    for (let i = 0; i < 8; i++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new DamagedColumn("a number is cut short");
      value += (byte & 127) * unit;
      if (byte < 128 && Number.isSafeInteger(value)) return value;
      unit *= 128;
    }
    throw new DamagedColumn("a number is too large");
  }

  /** An integer below `end`. */
  index(end: number): number {
    const value = this.integer();
    if (value >= end) throw new DamagedColumn(`index ${value} of ${end}`);
    return value;
  }

  text(): string {
    return this.#take(this.integer()).toString("utf8");
  }

  address(): string {
    return `0x${this.#take(20).toString("hex")}`;
  }

  column(): ColumnReader {
    return new ColumnReader(this.#take(this.integer()));
  }

  #take(size: number): Buffer {
    const end = this.#at + size;
    if (end > this.#bytes.length) throw new DamagedColumn("a value is cut short");
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}
