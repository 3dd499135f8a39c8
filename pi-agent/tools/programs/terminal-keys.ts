/** The bytes that an xterm sends for each key; programs expect them because of TERM=xterm. */

const ESCAPE = "\x1b";

/** Keys that end with a letter. Only these change when a program asks for application cursor keys (DECCKM). */
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

/** The list of names for error texts. */
export const KEY_NAMES = `${Object.keys({ ...CURSOR, ...FIXED }).join(", ")}, ctrl-a to ctrl-z, alt- and a character`;

/**
 * @param name one of KEY_NAMES, in upper or lower case
 * @param applicationCursor whether the program asked for application cursor keys
 * @returns undefined for an unknown name
 */
export function keyBytes(name: string, { applicationCursor = false } = {}): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(FIXED, lower)) return FIXED[lower];
  if (Object.hasOwn(CURSOR, lower)) return `${ESCAPE}${applicationCursor ? "O" : "["}${CURSOR[lower]}`;
  // Control clears the upper bits of a letter: a is 1, z is 26.
  if (/^ctrl-[a-z]$/.test(lower)) return String.fromCharCode(lower.charCodeAt(5) & 0x1f);
  // Here upper and lower case differ, since it is the character itself.
  if (/^alt-[!-~]$/i.test(name)) return `${ESCAPE}${name.slice(4)}`;
  return undefined;
}
