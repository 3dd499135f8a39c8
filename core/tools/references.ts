/**
 * References in arguments: an object `{"$ref": "/NAME/result"}` stands for a value of a document of earlier results. It is a
 * JSON pointer (RFC 6901). Nothing is computed, and no text is searched for references.
 */
import { utf8 } from "../encoding.ts";
import { isTooDeep, type Parsed } from "../protocol/parse.ts";

/** Bytes of JSON of arguments whose references are resolved: the most that an approval can show. */
export const RESOLVED_MAX_BYTES = 64 * 1024;

/** An object with other keys, or whose `$ref` begins otherwise (JSON Schema's `#/…`), is ordinary data. */
function pointerOf(value: object): string | undefined {
  const { $ref } = value as { $ref?: unknown };
  const isPointer = typeof $ref === "string" && $ref.startsWith("/");
  return isPointer && Object.keys(value).length === 1 ? $ref : undefined;
}

/** Returns the pointers of all references in a value, each once. */
export function referencesIn(value: unknown): string[] {
  const found = new Set<string>();
  visit(value, (pointer) => found.add(pointer));
  return [...found];
}

function visit(value: unknown, found: (pointer: string) => void): void {
  if (typeof value !== "object" || value === null) return;
  const pointer = pointerOf(value);
  if (pointer !== undefined) found(pointer);
  else for (const one of Object.values(value)) visit(one, found);
}

/** Returns the names on the way of a pointer, without RFC 6901's escapes. */
export function namesOfPointer(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * Returns a copy of the value with each reference replaced by what it points to. The error names the pointer.
 * @param isMeant absent = all; the other references stay
 */
export function resolveReferences(
  value: unknown,
  document: unknown,
  isMeant: (pointer: string) => boolean = () => true,
): Parsed<unknown> {
  const found = new Map<string, unknown>();
  const sizes = new Map<string, number>();
  for (const pointer of referencesIn(value).filter(isMeant)) {
    const target = lookUp(document, pointer);
    if (!target.ok) return target;
    found.set(pointer, target.value);
    sizes.set(pointer, bytesOf(target.value));
  }
  if (found.size === 0) return { ok: true, value };
  // Counted before the copy is written out: a short reference may stand there a thousand times.
  let bytes = bytesOf(value);
  visit(value, (pointer) => {
    bytes += sizes.get(pointer) ?? 0;
  });
  if (bytes > RESOLVED_MAX_BYTES) {
    const error = `with the results that ${[...found.keys()].join(", ").slice(0, 200)} point to it has ${bytes} bytes (at most ${RESOLVED_MAX_BYTES})`;
    return { ok: false, error };
  }
  return { ok: true, value: replaced(value, found) };
}

function replaced(value: unknown, found: ReadonlyMap<string, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, found));
  const pointer = pointerOf(value);
  if (pointer !== undefined) return found.has(pointer) ? found.get(pointer) : value;
  // fromEntries defines each key, so that a key `__proto__` stays an ordinary one.
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one, found)]));
}

/** Follows own properties alone. The error quotes the pointer and no result, whose words may be a stranger's. */
function lookUp(document: unknown, pointer: string): Parsed<unknown> {
  const wrong = (why: string): Parsed<unknown> => ({ ok: false, error: `{"$ref": "${pointer}"}: ${why}` });
  if (/~(?![01])/.test(pointer)) return wrong("'~' is written '~0' in a JSON pointer");
  let value = document;
  for (const name of namesOfPointer(pointer)) {
    if (typeof value !== "object" || value === null)
      return wrong(`there is nothing below a text or number, so no '${name}'`);
    const isThere = Array.isArray(value)
      ? /^(0|[1-9]\d*)$/.test(name) && Number(name) < value.length
      : Object.hasOwn(value, name);
    if (!isThere) return wrong(`there is no '${name}'`);
    value = (value as Record<string, unknown>)[name];
  }
  return { ok: true, value };
}

/** The part of a document for one result: `data` is the text's own JSON, where it is JSON. */
export function resultDocument(text: string): { result: string; data?: unknown } {
  try {
    const data: unknown = JSON.parse(text);
    return isTooDeep(data) ? { result: text } : { result: text, data };
  } catch {
    return { result: text };
  }
}

function bytesOf(value: unknown): number {
  return utf8(JSON.stringify(value) ?? "").length;
}
