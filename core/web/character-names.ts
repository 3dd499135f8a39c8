/**
 * HTML's names of characters (`&eacute;`), in the form in which the package `entities` looks them up. The Worker's bundle has this module
 * in place of that package's own table (local/bundles.ts): the gateway reads them from a file when a text first needs them, and its start
 * takes neither their bytes nor their time.
 */

/** Without them a name stays as it is written; numbers (`&#233;`) are read all the same. The package imports it by this name. */
export let htmlDecodeTree = new Uint16Array(1);
let isGiven = false;

/** @param words of the table that `entities` calls `htmlDecodeTree` */
export function giveCharacterNames(words: readonly number[]): void {
  htmlDecodeTree = Uint16Array.from(words);
  isGiven = true;
}

export function hasCharacterNames(): boolean {
  return isGiven;
}
