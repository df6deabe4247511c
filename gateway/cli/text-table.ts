/** Lines of left-aligned columns, each as wide as its widest cell, under a line of headings. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => [...(line[column] ?? "")].length)),
  );
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => pad(cell, widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - [...cell].length));
}
