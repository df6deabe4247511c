/**
 * Makes a function that takes the secrets of one endpoint's URL out of a text: the path, the query and the
 * password are where providers put keys, and both runtimes and providers quote URLs in their errors.
 */
export function createRedactor(url: URL): (text: string) => string {
  const parts = [...url.pathname.split("/"), ...url.searchParams.values()];
  const pieces = [url.pathname, url.search, url.username, url.password, ...parts];
  const secrets = [...new Set(pieces.flatMap((piece) => [piece, safeDecode(piece)]))]
    .filter((piece) => piece.length >= 8)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text.replace(/\b(https?|wss?):\/\/[^\s"'<>)]+/gi, (found) => {
      try {
        return `${new URL(found).host}/…`;
      } catch {
        return "…";
      }
    });
    for (const secret of secrets) clean = clean.replaceAll(secret, "…");
    return clean;
  };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
