const TARGET = /^\/[\x21-\x7e]*$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface RequestHead {
  /** Path and query. */
  readonly target: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The whole text of a GET. Throws on what would be another line or another request. */
export function renderRequest({ target, host, headers }: RequestHead): string {
  if (!TARGET.test(target)) throw new Error("Cannot ask a service: the target is not printable ASCII");
  let text = `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in headers) {
    const value = headers[name] as string;
    if (!VALUE.test(value)) throw new Error(`Cannot ask a service: ${name} holds control characters`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}\r\n`;
}
