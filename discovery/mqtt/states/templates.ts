/** Templates of configs: those that read a message, and those that write a command. */

import { numberText } from "@edgecall/core/text/quantity.ts";
import { compileTemplate, renderTemplate } from "../template/template.ts";
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

/** A message that its template cannot read. */
export class Unreadable {
  /** As the end of a sentence; it may quote the publisher. */
  readonly reason: string;

  /** @param problem a sentence about the template */
  constructor(problem: string) {
    this.reason = `${problem.charAt(0).toLowerCase()}${problem.slice(1).replace(/\.$/, "")}`;
  }
}

/** An empty text is a value; its kind decides what it says. */
export type ReadValue = (message: Message) => string | Unreadable;

/** A config without a template has the message as its value. A template that cannot be used makes each message unreadable. */
export function valueReader(
  source: string | undefined,
  variables: Variables = {},
): { read: ReadValue; problem?: string } {
  if (source === undefined) return { read: ({ text }) => text };
  const compiled = compiledOnce(source);
  if (!compiled.ok) {
    const unreadable = new Unreadable(compiled.problem);
    return { read: () => unreadable, problem: compiled.problem };
  }
  const read = (message: Message) => {
    if (message.budget.isSpent) return new Unreadable(`The template ${message.budget.problem}.`);
    const given = { ...variables, value: message.text, value_json: message.variable() };
    const options = { now: new Date(message.now), shared: message.budget };
    const rendered = renderTemplate(compiled.template, given, options);
    return rendered.ok ? rendered.text : new Unreadable(rendered.problem);
  };
  return { read };
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
