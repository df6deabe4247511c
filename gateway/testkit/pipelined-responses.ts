export interface ParsedResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Cuts what came back on one connection into answers, in order. Throws where it is not made of whole, well-formed answers.
 * `methods` are those of the requests: an answer to HEAD has no body.
 */
export function parsePipelinedResponses(text: string, methods: readonly string[]): ParsedResponse[] {
  const answers: ParsedResponse[] = [];
  let at = 0;
  while (at < text.length) {
    const { end, ...answer } = answerAt(text, at, methods[answers.length] === "HEAD");
    answers.push(answer);
    at = end;
  }
  return answers;
}

function answerAt(text: string, at: number, isHead: boolean): ParsedResponse & { readonly end: number } {
  const headEnd = text.indexOf("\r\n\r\n", at);
  const shown = JSON.stringify(text.slice(at, at + 200));
  if (headEnd === -1) throw new Error(`An answer ends within its head: ${shown}`);
  const [statusLine = "", ...lines] = text.slice(at, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) [\x20-\x7e]+$/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`No status line: ${shown}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([A-Za-z][A-Za-z0-9-]*): ([\x20-\x7e]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`No header: ${JSON.stringify(line)}`);
    if (headers.has(name.toLowerCase())) throw new Error(`A header came twice: ${line}`);
    headers.set(name.toLowerCase(), value);
  }
  const bodyAt = headEnd + 4;
  if (isHead || status === 204 || status === 304) return { status, headers, body: "", end: bodyAt };
  const length = Number(headers.get("content-length"));
  if (Number.isNaN(length)) throw new Error(`An answer without a length: ${shown}`);
  const end = bodyAt + length;
  if (end > text.length) throw new Error(`An answer breaks off: ${shown}`);
  return { status, headers, body: text.slice(bodyAt, end), end };
}
