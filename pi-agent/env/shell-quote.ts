/** The one place where arguments become a line for a POSIX shell: that is all that ssh can send. */

/**
 * @returns a line that a POSIX shell takes apart into these very words, whatever is in them
 * @throws TypeError for a NUL, which no argument can have
 */
export function shellQuote(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  if (word.includes("\0")) throw new TypeError("An argument has a NUL in it.");
  // Within single quotes nothing is special but the single quote itself.
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
