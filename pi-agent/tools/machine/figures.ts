/** Formats figures for people. */

/** Disk and network, in powers of ten like the label on the card: `23.4 GB`. */
export function bytes(value: number): string {
  return scaled(value, 1_000, ["bytes", "kB", "MB", "GB", "TB", "PB"]);
}

/** Memory, in powers of two like the chip: `416 MiB`. */
export function memoryBytes(value: number): string {
  return scaled(value, 1_024, ["bytes", "KiB", "MiB", "GiB", "TiB"]);
}

function scaled(value: number, step: number, units: readonly string[]): string {
  let size = value;
  let unit = 0;
  while (size >= step && unit < units.length - 1) {
    size /= step;
    unit += 1;
  }
  const digits = unit === 0 || size >= 100 ? 0 : 1;
  return `${size.toFixed(digits)} ${units[unit]}`;
}

/** `3 days 4 h 5 min` */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const parts = [
    { value: Math.floor(minutes / 1_440), unit: minutes >= 2_880 ? "days" : "day" },
    { value: Math.floor(minutes / 60) % 24, unit: "h" },
    { value: minutes % 60, unit: "min" },
  ].filter(({ value }) => value > 0);
  return parts.length === 0
    ? `${Math.floor(seconds)} s`
    : parts.map(({ value, unit }) => `${value} ${unit}`).join(" ");
}

export function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : (part / whole) * 100;
}
