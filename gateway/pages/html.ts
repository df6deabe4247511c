const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Markup that needs no escaping any more. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | readonly (Html | string | number)[];

/** Builds markup; every interpolated text is escaped, so that no description can break the page. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const markup = strings.reduce(
    (text, piece, position) => text + toMarkup(parts[position - 1] ?? "") + piece,
  );
  return { markup };
}

function toMarkup(part: Part): string {
  if (Array.isArray(part)) return part.map(toMarkup).join("");
  if (typeof part === "object") return (part as Html).markup;
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
