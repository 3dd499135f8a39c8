/** States that are too long to be read whole, such as `bridge/info` of zigbee2mqtt, which has all its settings and their schema. */

/** A member that no entity names is kept up to here, and all of these together up to the second bound. */
const OTHER_MAX_CHARS = 1_024;
const OTHERS_MAX_CHARS = 4_096;
const DROPPED_MAX = 50;

export type StatePart = {
  text: string;
  /** Names of the members that are not in it. */
  dropped: string[];
};

/**
 * The members of a JSON object that entities name, and the small ones. It looks at each character once, and parses none of what it
 * leaves out.
 * @param max characters of the result
 * @returns undefined: the text is no JSON object
 */
export function partOfState(text: string, named: ReadonlySet<string>, max: number): StatePart | undefined {
  const kept: string[] = [];
  const dropped: string[] = [];
  let room = max - 2;
  let others = OTHERS_MAX_CHARS;
  let at = afterSpace(text, 0);
  if (text[at] !== "{") return undefined;
  at = afterSpace(text, at + 1);
  while (text[at] === '"') {
    const keyEnd = stringEnd(text, at);
    const colon = afterSpace(text, keyEnd);
    if (text[colon] !== ":") return undefined;
    const begin = afterSpace(text, colon + 1);
    const end = valueEnd(text, begin);
    if (end <= begin) return undefined;
    const key = text.slice(at, keyEnd);
    const name = key.slice(1, -1);
    const size = keyEnd - at + end - begin + 2;
    const isOther = !named.has(name);
    if (size > room || (isOther && (size > OTHER_MAX_CHARS || size > others))) {
      if (dropped.length < DROPPED_MAX) dropped.push(name);
    } else {
      kept.push(`${key}:${text.slice(begin, end)}`);
      room -= size;
      if (isOther) others -= size;
    }
    at = afterSpace(text, end);
    if (text[at] !== ",") break;
    at = afterSpace(text, at + 1);
  }
  return text[at] === "}" && afterSpace(text, at + 1) === text.length
    ? { text: `{${kept.join(",")}}`, dropped }
    : undefined;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text.charAt(at))) at += 1;
  return at;
}

/** @param from the opening quote @returns the place behind the closing one; -1: there is none */
function stringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5c) at += 1;
    else if (unit === 0x22) return at + 1;
  }
  return -1;
}

/** @returns the place behind a value that begins here; at most `from`: there is none */
function valueEnd(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return stringEnd(text, from);
  if (first !== "{" && first !== "[") {
    let at = from;
    while (at < text.length && !",]} \t\r\n".includes(text.charAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '"') {
      at = stringEnd(text, at) - 1;
      if (at < 0) return -1;
    } else if (unit === "{" || unit === "[") depth += 1;
    else if (unit === "}" || unit === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
