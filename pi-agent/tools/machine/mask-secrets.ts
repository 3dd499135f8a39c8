/**
 * Masks passwords in command lines and logs, since their text goes to a model. It looks at each word once, so that a stranger
 * who writes into a log cannot keep the device busy.
 */
const KEYWORD = /pass(?:word|wd)?|token|secret|api[-_]?key/i;
const MASK = "***";

export function maskSecrets(text: string): string {
  let masked = "";
  let from = 0;
  /** True if the word before named a secret, so that the next word is its value. */
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

/** Masks a word where a secret is expected: `= value`, `value`. An option is not a secret. */
function valueMasked(word: string): Shown {
  const value = afterSigns(word, 0);
  if (value === word.length) return { text: word, named: true };
  if (word[value] === "-") return pairMasked(word);
  return { text: word.slice(0, value) + MASK, named: false };
}

/** Masks `password=value`, or recognises `password`, whose value is the next word. */
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

/** Masks the password in `https://user:password@host`; it is before the last `@`. */
function addressMasked(word: string): string {
  const last = word.lastIndexOf("@") + 1;
  if (last === 0 || !word.includes("://")) return word;
  return word.slice(0, last).replace(/(:\/\/[^:/@]+:)[^@]+@/g, `$1${MASK}@`) + word.slice(last);
}
