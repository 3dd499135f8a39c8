/** What a terminal sends for a key: the bytes of xterm, which programs know by TERM=xterm. */

const ESCAPE = "\x1b";

/** Those with a letter, which is all that changes when a program asks for application cursor keys (DECCKM). */
const CURSOR: Readonly<Record<string, string>> = {
  up: "A",
  down: "B",
  right: "C",
  left: "D",
  end: "F",
  home: "H",
};

const FIXED: Readonly<Record<string, string>> = {
  enter: "\r",
  tab: "\t",
  space: " ",
  backspace: "\x7f",
  escape: ESCAPE,
  "shift-tab": `${ESCAPE}[Z`,
  insert: `${ESCAPE}[2~`,
  delete: `${ESCAPE}[3~`,
  pageup: `${ESCAPE}[5~`,
  pagedown: `${ESCAPE}[6~`,
  f1: `${ESCAPE}OP`,
  f2: `${ESCAPE}OQ`,
  f3: `${ESCAPE}OR`,
  f4: `${ESCAPE}OS`,
  f5: `${ESCAPE}[15~`,
  f6: `${ESCAPE}[17~`,
  f7: `${ESCAPE}[18~`,
  f8: `${ESCAPE}[19~`,
  f9: `${ESCAPE}[20~`,
  f10: `${ESCAPE}[21~`,
  f11: `${ESCAPE}[23~`,
  f12: `${ESCAPE}[24~`,
};

/** For whoever gets a name wrong. */
export const KEY_NAMES = `${Object.keys({ ...CURSOR, ...FIXED }).join(", ")}, ctrl-a to ctrl-z, alt- and a character`;

/**
 * @param name as in KEY_NAMES, in any case
 * @param applicationCursor what the program asked the terminal for
 * @returns undefined for a name that is none
 */
export function keyBytes(name: string, { applicationCursor = false } = {}): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(FIXED, lower)) return FIXED[lower];
  if (Object.hasOwn(CURSOR, lower)) return `${ESCAPE}${applicationCursor ? "O" : "["}${CURSOR[lower]}`;
  // Control takes the upper bits of a letter away: a is 1, z is 26.
  if (/^ctrl-[a-z]$/.test(lower)) return String.fromCharCode(lower.charCodeAt(5) & 0x1f);
  // Here the case counts: it is the character's own.
  if (/^alt-[!-~]$/i.test(name)) return `${ESCAPE}${name.slice(4)}`;
  return undefined;
}
