/**
 * Finds the words of an endpoint's error. There is no agreed form: OpenAI's `error.message`, Cloudflare's `errors`, FastAPI's `detail`,
 * MiniMax's `base_resp`, OpenRouter's `metadata.raw`, lists, JSON within a text, plain text, and the HTML page of a proxy.
 */

import { isObject } from "../protocol/is-object.ts";
import { jsonIn } from "../protocol/json-text.ts";
import { cutText } from "../text/cut.ts";

/** Members that hold words, or something that does. In the order in which they are told. */
const WORDS = [
  "message", "msg", "errormessage", "errormsg", "errmsg", "statusmsg", "statusmessage", "errordescription",
  "error", "errors", "err", "fault", "faultstring", "exception", "failure", "baseresp", "detail", "details", "metadata", "raw", "reason",
  "description", "title", "cause", "innererror", "body", "response", "result", "data",
]; // biome-ignore format: a list
/** Members that name an error which has no words. */
const CODES = ["code", "type", "status", "errorcode"];

const DEPTH_MAX = 10;
const WORDS_MAX = 500;
const PARTS_MAX = 3;
/** Items of a list that are read. */
const ITEMS_MAX = 4;

/** @param body of an error, or a value of it; what is no JSON is taken as plain text or HTML */
export function errorDetail(body: unknown): string {
  const found: string[] = [];
  collect(body, WORDS, DEPTH_MAX, found);
  if (found.length === 0) collect(body, [...CODES, ...WORDS], DEPTH_MAX, found);
  // The same words often stand in two members.
  const parts = found.filter(
    (part, at) => !found.some((other, i) => i !== at && isWithin(part, at, other, i)),
  );
  return cutText(parts.slice(0, PARTS_MAX).join(": "), WORDS_MAX);
}

function isWithin(part: string, at: number, other: string, i: number): boolean {
  return part === other ? i < at : other.includes(part);
}

function collect(value: unknown, names: readonly string[], depth: number, found: string[]): void {
  if (depth === 0 || found.length > PARTS_MAX) return;
  if (typeof value === "string") {
    const inner = parsed(value);
    const words = inner === undefined ? plainText(value) : "";
    if (inner !== undefined) collect(inner, names, depth - 1, found);
    else if (words !== "" && !isPadding(words)) found.push(words);
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, ITEMS_MAX)) collect(item, names, depth - 1, found);
  } else if (isObject(value)) {
    if (isFieldError(value)) found.push(`${value.loc.join(".")}: ${value.msg}`);
    else for (const name of names) collectMember(value, name, names, depth, found);
  }
}

function collectMember(
  value: Record<string, unknown>,
  name: string,
  names: readonly string[],
  depth: number,
  found: string[],
): void {
  for (const [key, member] of Object.entries(value)) {
    if (key.toLowerCase().replaceAll(/[^a-z]/g, "") !== name) continue;
    if (typeof member === "number" && CODES.includes(name)) found.push(String(member));
    else collect(member, names, depth - 1, found);
  }
}

/** An item of FastAPI's `detail` (https://fastapi.tiangolo.com/tutorial/handling-errors/): it names the field. */
function isFieldError(value: Record<string, unknown>): value is { loc: unknown[]; msg: string } {
  return Array.isArray(value.loc) && typeof value.msg === "string";
}

function parsed(text: string): unknown {
  return /^\s*[[{"]/.test(text) ? jsonIn(text) : undefined;
}

/** A key, a picture or other data, and no words. */
function isPadding(words: string): boolean {
  return words.length > 100 && !words.includes(" ") && words.length === WORDS_MAX;
}

/** Finds the first message in a JSON body that is too long to be read whole. */
function messageInPart(text: string): string {
  const found = /"(?:message|detail|msg)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  const message: unknown = found === undefined ? "" : parsed(found);
  return typeof message === "string" ? message : "";
}

/** Takes the title of an HTML page: the rest holds nothing useful for a person. */
function plainText(text: string): string {
  const title = /<title[^<>]{0,100}>([^<]{0,500})/i.exec(text)?.[1];
  const plain = /^\s*<[!a-z?]/i.test(text)
    ? (title ?? "")
    : /^\s*[[{]/.test(text)
      ? messageInPart(text)
      : text;
  const words = plain.replace(/\s+/g, " ").trim();
  return /^(?:null|true|false|[\d.]*|undefined)$/.test(words) ? "" : cutText(words, WORDS_MAX);
}
