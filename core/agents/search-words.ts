/**
 * The tables of words by which agents and readings are found. They are data that a program is given before it searches: the gateway reads
 * them from a file when it first does, and its start takes neither their bytes nor their time.
 */

/**
 * @property classes one a line: a quantity or a device class, its units in brackets, and words for it. A word may be in several lines
 * @property states the same of states: the English word that a reading's text has, and words for it
 * @property groups one a line: words that stand for each other. A word may be in several
 * @property stop words of a question that say nothing about the device
 */
export type SearchWords = { classes: string; states: string; groups: string; stop: string };

/** Without them a search finds the words themselves alone. */
let given: SearchWords = { classes: "", states: "", groups: "", stop: "" };
let isGiven = false;

export function giveSearchWords(words: SearchWords): void {
  if (isGiven) return;
  given = words;
  isGiven = true;
}

export function hasSearchWords(): boolean {
  return isGiven;
}

/** Makes a value of the words at its first use, and once more when they are given. */
export function ofSearchWords<T>(make: (words: SearchWords) => T): () => T {
  let made: { of: SearchWords; value: T } | undefined;
  return () => {
    if (made?.of !== given) made = { of: given, value: make(given) };
    return made.value;
  };
}

export function linesOf(table: string): string[] {
  return table.split("\n").filter((line) => line !== "");
}
