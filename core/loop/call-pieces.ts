/**
 * Puts the calls of a reply together. Endpoints stream them in pieces, and some repeat a piece, all of the call, its name or its
 * beginning, give each piece a new id, or give several calls the same index. Nothing is guessed: a call whose pieces make no JSON
 * stays unreadable.
 */

import { objectIn } from "../protocol/json-text.ts";
import type { RequestedCall } from "./model-reply.ts";
import { replayMembers } from "./replay.ts";

/** Endpoints leave out and add fields freely, so only the nesting is certain. */
export type LooseCall = {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
};

type Piece = { id: string | undefined; name: string; text: string };
type OpenCall = {
  index: unknown;
  id: string | undefined;
  name: string;
  pieces: string[];
  /** All of them, one after the other. */
  text: string;
  extra: Record<string, unknown>;
};

export class CallPieces {
  readonly #names: ReadonlySet<string>;
  readonly #calls: OpenCall[] = [];
  #length = 0;

  /** @param names of the tools that the request offers */
  constructor(names: ReadonlySet<string>) {
    this.#names = names;
  }

  /** Characters of names and arguments so far. */
  get length(): number {
    return this.#length;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** @param isPiece true in a stream, where it may continue a call; in a whole message each is a call of its own */
  add(loose: LooseCall, isPiece: boolean): void {
    const args = loose.function?.arguments;
    const piece = {
      id: typeof loose.id === "string" && loose.id ? loose.id : undefined,
      name: typeof loose.function?.name === "string" ? loose.function.name : "",
      text: typeof args === "string" ? args : args == null ? "" : JSON.stringify(args),
    };
    const index = loose.index ?? undefined;
    this.#length += piece.name.length + piece.text.length;
    const extra = replayMembers(loose);
    const open = isPiece ? this.#continued(index, piece) : undefined;
    if (!open) {
      this.#calls.push({ ...piece, index, pieces: [piece.text], extra });
      return;
    }
    open.id ??= piece.id;
    if (isPartOfName(open, piece, this.#names)) open.name += piece.name;
    else open.name ||= piece.name;
    open.pieces.push(piece.text);
    open.text += piece.text;
    Object.assign(open.extra, extra);
  }

  /** Returns the call that a piece continues, or undefined when it begins a new one. */
  #continued(index: unknown, piece: Piece): OpenCall | undefined {
    const open = index === undefined ? this.#calls.at(-1) : this.#calls.findLast((it) => it.index === index);
    return open && !beginsAnother(open, piece, index !== undefined, this.#names) ? open : undefined;
  }

  /** @param isCut the reply reached its limit: a last call without arguments has lost them */
  build(isCut: boolean): RequestedCall[] {
    const calls = this.#calls.filter(({ name }) => name !== "");
    return calls.map(({ id, name, pieces, extra }, at): RequestedCall => {
      const rawArguments = argumentsOf(pieces);
      const isLost = isCut && at === calls.length - 1 && rawArguments.trim() === "";
      return {
        id,
        name: offeredName(name, this.#names),
        rawArguments: isLost ? "{" : rawArguments,
        ...(Object.keys(extra).length > 0 && { extra }),
      };
    });
  }
}

/** A name in pieces: `edg`, then `e_call`. */
function isPartOfName(open: OpenCall, piece: Piece, names: ReadonlySet<string>): boolean {
  if (piece.name === "" || open.name === "" || open.text !== "" || names.has(open.name)) return false;
  return [...names].some((name) => name.startsWith(open.name + piece.name));
}

/** Some endpoints give every call of a reply the same index or the same id, or send neither. */
function beginsAnother(open: OpenCall, next: Piece, isIndexed: boolean, names: ReadonlySet<string>): boolean {
  if (isPartOfName(open, next, names)) return false;
  const isSameName = next.name === "" || next.name === open.name;
  if (next.name && open.name && !isSameName) return true;
  const beginsObject = /^\s*[{[]/.test(next.text);
  if (next.id !== undefined && open.id !== undefined && next.id !== open.id) {
    // Some endpoints give each piece a new id.
    if (next.name === "") return false;
    return beginsObject || next.text === "" || open.text === "" || isWhole(open.text);
  }
  if (next.name && next.id === undefined && !isIndexed) return true;
  if (next.name === "" || !beginsObject || !isWhole(open.text)) return false;
  // Some endpoints begin each call with `{}`, or repeat a whole call at the end of the stream.
  const isRepeated = next.id !== undefined && isSameJson(open.text, next.text);
  return !isEmptyObject(open.text) && !isRepeated;
}

/** Joins the pieces of arguments, without what was repeated. */
function argumentsOf(pieces: readonly string[]): string {
  const all = pieces.join("");
  if (isWhole(all)) return all;
  const parts = pieces.filter((piece) => piece.trim() !== "" && !isEmptyObject(piece));
  const rest = parts.join("");
  if (isWhole(rest)) return rest;
  const last = parts.at(-1) ?? "";
  const before = parts.slice(0, -1).join("");
  const isRepeated = before === last || isSameJson(before, last);
  // Some endpoints send all that there is so far with each piece.
  const isGrown = parts.length > 1 && parts.every((part) => last.startsWith(part));
  if ((isRepeated || isGrown) && isWhole(last)) return last;
  const half = all.slice(0, all.length / 2);
  return half + half === all && isWhole(half) ? half : all;
}

function isEmptyObject(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text);
}

function isSameJson(a: string, b: string): boolean {
  const [first, second] = [parseWholeObject(a), parseWholeObject(b)];
  return first !== undefined && JSON.stringify(first) === JSON.stringify(second);
}

/** Tells whether a text is a whole JSON object, so that nothing can continue it. */
function isWhole(text: string): boolean {
  return parseWholeObject(text) !== undefined;
}

function parseWholeObject(text: string): Record<string, unknown> | undefined {
  // Parsing what cannot be whole would cost as much as the reply is long, for each piece.
  return /^\s*\{/.test(text) && /\}\s*$/.test(text) ? objectIn(text) : undefined;
}

/**
 * Returns the offered name that a model meant: models add the marks of their own call format (`functions.edge_call`,
 * `default_api:edge_call`, `edge_call<|channel|>commentary`) and write other cases. Another name stays as it is, and the answer to
 * the call says that there is no such tool.
 */
export function offeredName(given: string, names: ReadonlySet<string>): string {
  if (names.has(given)) return given;
  const plain = given.replace(/<[|｜][\s\S]*$/, "").trim();
  if (names.has(plain)) return plain;
  const parts = plain.split(/[.:/]+/).filter((part) => names.has(part));
  if (new Set(parts).size === 1 && parts[0] !== undefined) return parts[0];
  const alike = [...names].filter((name) => folded(name) === folded(plain));
  return alike.length === 1 && alike[0] !== undefined ? alike[0] : plain || given;
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
