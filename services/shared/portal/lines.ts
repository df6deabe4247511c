/** A block with all logs is a few megabytes; a line without an end must not fill the memory. */
const LONGEST_LINE = 64 * 1024 * 1024;

/**
 * The whole lines of a body as its parts arrive. Returns, at the end, what follows the last line break. Errors of the
 * body pass through after the lines before them.
 */
export async function* readLines(
  body: AsyncIterable<Uint8Array>,
  longest = LONGEST_LINE,
): AsyncGenerator<string[], string> {
  const decoder = new TextDecoder();
  let pending: string[] = [];
  let length = 0;
  for await (const part of body) {
    const text = decoder.decode(part, { stream: true });
    const end = text.lastIndexOf("\n");
    if (end >= 0) {
      pending.push(text.slice(0, end));
      yield pending.join("").split("\n").filter(isFilled);
      pending = [];
      length = 0;
    }
    pending.push(text.slice(end + 1));
    length += text.length - end - 1;
    if (length > longest) throw new Error(`a line is longer than ${longest} characters`);
  }
  pending.push(decoder.decode());
  return pending.join("");
}

function isFilled(line: string): boolean {
  return line.trim() !== "";
}
