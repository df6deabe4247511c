/** Characters that are compared as one number, and how many texts that leaves room for beside it in a float. */
const HEAD_CHARS = 4;
const MOST_TEXTS = 2 ** 20;

/**
 * The texts in the order of their characters, as sort() has them, in half of its time: keys of one batch begin alike and
 * differ in the digits after that, which are sorted as numbers; only those with the same digits are compared as texts.
 */
export function sortTexts(texts: readonly string[]): string[] {
  const from = commonLength(texts);
  const heads = new Float64Array(texts.length);
  for (let i = 0; i < texts.length; i++) {
    const head = headOf(texts[i] as string, from);
    if (head === undefined || i === MOST_TEXTS) return [...texts].sort();
    heads[i] = head * MOST_TEXTS + i;
  }
  heads.sort();
  const sorted: string[] = [];
  for (let i = 0; i < heads.length; ) {
    const head = Math.floor((heads[i] as number) / MOST_TEXTS);
    const group: string[] = [];
    for (; i < heads.length && Math.floor((heads[i] as number) / MOST_TEXTS) === head; i++)
      group.push(texts[(heads[i] as number) % MOST_TEXTS] as string);
    if (group.length > 1) group.sort();
    for (const text of group) sorted.push(text);
  }
  return sorted;
}

/** Characters that all texts begin with. */
function commonLength(texts: readonly string[]): number {
  const [first = ""] = texts;
  let length = first.length;
  for (const text of texts)
    for (let at = 0; at < length; at++) if (text.charCodeAt(at) !== first.charCodeAt(at)) length = at;
  return length;
}

/** Undefined for characters beyond a byte. What is absent at a text's end comes first. */
function headOf(text: string, from: number): number | undefined {
  let head = 0;
  for (let at = from; at < from + HEAD_CHARS; at++) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    if (code > 255) return undefined;
    head = 256 * head + code;
  }
  return head;
}
