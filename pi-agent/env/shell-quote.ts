/** The only place where arguments become a POSIX shell line, which is all that ssh can send. */

/**
 * @returns a line that a POSIX shell splits into exactly these words, whatever they contain
 * @throws TypeError for a NUL, which no argument can contain
 */
export function shellQuote(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  if (word.includes("\0")) throw new TypeError("An argument has a NUL in it.");
  // Within single quotes only the single quote is special.
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
