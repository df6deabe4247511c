const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
] as const;

/** Three digits at most: 1,234 stays, 12,345,678 is "12.3 M". */
export function formatAmount(value: number): string {
  const [unit, letter] = UNITS.find(([size]) => value >= size) ?? [1, ""];
  if (unit === 1) return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
  return `${toThree(value / unit)} ${letter}`;
}

export function formatBytes(bytes: number): string {
  for (const [size, letter] of UNITS) if (bytes >= size) return `${toThree(bytes / size)} ${letter}B`;
  return `${toThree(bytes / 1e3)} kB`;
}

export function formatHours(hours: number): string {
  if (hours < 1) return `${Math.max(1, Math.round(hours * 60))} min`;
  return hours < 48 ? `${toThree(hours)} h` : `${toThree(hours / 24)} days`;
}

function toThree(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
