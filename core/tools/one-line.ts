/** Text of a device or a server on one line: no control characters, no line of its own making, bounded. */
export function oneLine(text: string, max: number): string {
  const line = text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .replace(/ {2,}/g, " ")
    .trim();
  return line.length <= max ? line : `${line.slice(0, max - 1)}…`;
}
