/** Names with a number each, from 0 on: those of tokens, or those of pools. */
export interface Names {
  readonly size: number;
  /** The number of a name, −1 where it is absent. */
  find(name: string): number;
  /** The number of a name, which is added where it is absent. */
  add(name: string): number;
  nameOf(number: number): string;
  /** Makes room for so many names at once. */
  reserve(count: number): void;
  /** Whether a name comes before another one in the order of their texts. */
  isBefore(number: number, other: number): boolean;
}

/** Names of any text. Those of a whole chain are kept outside of the heap (ingest/state/address-table.ts). */
export class TextNames implements Names {
  readonly #texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#texts.length;
  }

  find(name: string): number {
    return this.#numbers.get(name) ?? -1;
  }

  add(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.#texts.push(name) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  nameOf(number: number): string {
    return this.#texts[number] as string;
  }

  reserve(): void {}

  isBefore(number: number, other: number): boolean {
    return this.nameOf(number) < this.nameOf(other);
  }
}
