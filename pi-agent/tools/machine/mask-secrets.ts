/**
 * People do pass passwords on command lines and log them, and what is listed here goes to a model. Word by word, each
 * looked at once: a stranger who writes into a log must not keep the device busy with it.
 */
const KEYWORD = /pass(?:word|wd)?|token|secret|api[-_]?key/i;
const MASK = "***";

export function maskSecrets(text: string): string {
  let masked = "";
  let from = 0;
  /** The word before named a secret, which is the next word then. */
  let named = false;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    const gap = text.slice(from, index);
    from = index + word.length;
    const follows: boolean = named && /^ *$/.test(gap);
    const shown: Shown = follows ? valueMasked(word) : pairMasked(word);
    named = shown.named;
    masked += gap + addressMasked(shown.text);
  }
  return masked + text.slice(from);
}

type Shown = { text: string; named: boolean };

/** A word that stands where a secret is expected: `= value`, `value`; an option is none. */
function valueMasked(word: string): Shown {
  const value = afterSigns(word, 0);
  if (value === word.length) return { text: word, named: true };
  if (word[value] === "-") return pairMasked(word);
  return { text: word.slice(0, value) + MASK, named: false };
}

/** `password=value`, or `password` alone, whose value is the next word. */
function pairMasked(word: string): Shown {
  const keyword = KEYWORD.exec(word);
  if (!keyword) return { text: word, named: false };
  const sign = word.indexOf("=", keyword.index + keyword[0].length);
  if (sign < 0) return { text: word, named: true };
  const value = afterSigns(word, sign);
  if (value === word.length) return { text: word, named: true };
  return { text: word[value] === "-" ? word : word.slice(0, value) + MASK, named: false };
}

function afterSigns(word: string, from: number): number {
  let at = from;
  while (word[at] === "=") at += 1;
  return at;
}

/** `https://user:password@host`. Behind the last `@` there is nothing to look for. */
function addressMasked(word: string): string {
  const last = word.lastIndexOf("@") + 1;
  if (last === 0 || !word.includes("://")) return word;
  return word.slice(0, last).replace(/(:\/\/[^:/@]+:)[^@]+@/g, `$1${MASK}@`) + word.slice(last);
}
