/** Templates of configs: those that read a message, and those that write a command. */
import { compileTemplate, renderTemplate } from "../template/template.ts";
import { numberText } from "../values/quantity.ts";
import type { Message } from "./message.ts";

/** Templates that are kept compiled. A publisher writes the same few into the configs of all its devices. */
const COMPILED_MAX = 1_000;
const COMPILED = new Map<string, ReturnType<typeof compileTemplate>>();

function compiledOnce(source: string, isCommand = false): ReturnType<typeof compileTemplate> {
  const key = `${isCommand ? "command" : "value"} ${source}`;
  const known = COMPILED.get(key);
  if (known) return known;
  if (COMPILED.size >= COMPILED_MAX) COMPILED.clear();
  const fresh = compileTemplate(source, { isCommand });
  COMPILED.set(key, fresh);
  return fresh;
}

/** Names of a config that a template may use, beside the value. */
export type Variables = Readonly<Record<string, unknown>>;

/** @returns undefined where the template fails. An empty text is a value; its kind decides what it says */
export type ReadValue = (message: Message) => string | undefined;

/** Without a template, the message is the value. */
export function valueReader(
  source: string | undefined,
  variables: Variables = {},
): { ok: true; read: ReadValue } | { ok: false; problem: string } {
  if (source === undefined) return { ok: true, read: ({ text }) => text };
  const compiled = compiledOnce(source);
  if (!compiled.ok) return compiled;
  const read = (message: Message) => {
    const given = { ...variables, value: message.text, value_json: message.variable() };
    const rendered = renderTemplate(compiled.template, given, { now: new Date(message.now) });
    return rendered.ok ? rendered.text : undefined;
  };
  return { ok: true, read };
}

/** Writes a payload; `value` stays as it is without a template. */
export type WritePayload = (
  value: unknown,
  variables: Variables,
) => { ok: true; text: string } | { ok: false; problem: string };

/** Few devices read an exponent. */
function written(value: unknown): string {
  return typeof value === "number" ? numberText(value) : String(value);
}

export function payloadWriter(
  source: string | undefined,
  names: Variables,
): { ok: true; write: WritePayload } | { ok: false; problem: string } {
  if (source === undefined) return { ok: true, write: (value) => ({ ok: true, text: written(value) }) };
  const compiled = compiledOnce(source, true);
  if (!compiled.ok) return compiled;
  return {
    ok: true,
    write: (value, variables) =>
      renderTemplate(compiled.template, { ...names, ...variables, value }, { isCommand: true }),
  };
}
