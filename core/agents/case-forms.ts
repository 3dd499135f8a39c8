/** Forms of one word, as languages with cases write it: łazienka, łazience; Küche, Küchen; okno, okna. Pure. */

/** Letters that two forms share at least, and how many of a long word may differ. */
const SHARED_MIN = 4;
const ENDING_MAX = 4;

/** Endings that may follow the shared letters, folded (ę is e, ó is o): Polish, German, French, Spanish, Italian, Dutch and Portuguese. */
const ENDINGS: ReadonlySet<string> = new Set([
  "",
  ..."a e i o u y s n r x em en er es ern ns ne te".split(" "),
  ..."ie ia iu ii ej om ow ami ach owi ego emu ych ymi ym iem ich ka ki ke ko ku ce ek kach kami na ni no nie ien nych".split(
    " ",
  ),
  ..."ze rze zie dzi dzie dzie du da dy ra ru ry ro lka le la li lo ta ty to tym tej".split(" "),
  ..."os as is ia ias io ios ues aux ee ees".split(" "),
]);

/** Tells whether both may be forms of one word. Both are folded. */
export function areForms(a: string, b: string): boolean {
  const longest = Math.min(a.length, b.length);
  if (longest < SHARED_MIN || a[0] !== b[0] || Math.abs(a.length - b.length) > ENDING_MAX) return false;
  let shared = 0;
  while (shared < longest && a[shared] === b[shared]) shared += 1;
  // The ending may begin earlier than where the letters part: kuchni and kuchnia, kuchn-i and kuchn-ia.
  return shared >= SHARED_MIN && ENDINGS.has(a.slice(shared)) && ENDINGS.has(b.slice(shared));
}

/** @returns the known words that may be other forms of it */
export function formsOf(word: string, known: Iterable<string>): string[] {
  if (word.length < SHARED_MIN) return [];
  const found: string[] = [];
  for (const one of known) if (one !== word && areForms(word, one)) found.push(one);
  return found;
}
