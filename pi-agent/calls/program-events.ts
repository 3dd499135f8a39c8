/**
 * Events that a skill's program says: a line of its output that is a JSON object with `event`, one of the names that skill.toml
 * declares. `{"event": "opened", "value": 3, "text": "the lid"}`. They are heard wherever the program runs: for a call, as a job,
 * or for a rule.
 */

import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { VALUE_MAX_CHARS } from "@edgecall/core/protocol/rules.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import type { Tool } from "@edgecall/core/tools/contract.ts";

/** A longer line is no event. */
const LINE_MAX_CHARS = 2_000;
const TEXT_MAX_CHARS = 200;

/** @property stream names output that may be read again from its beginning; `index`: the event's place in it */
export type SaidEvent = {
  tool: string;
  name: string;
  value: string | number | boolean;
  text?: string;
  stream?: { name: string; index: number };
};

/** Takes a program's output as it comes. */
export type EventReader = { add(output: string): void; end(): void };

const Line = z.looseObject({
  event: z.string(),
  value: z.optional(z.union([z.number(), z.string(), z.boolean()])),
  text: z.optional(z.string()),
});

export class ProgramEvents {
  #onEvent: (event: SaidEvent) => void = () => {};

  /** Call it once. */
  onEvent(listener: (event: SaidEvent) => void): void {
    this.#onEvent = listener;
  }

  /** @param stream the job's token @returns undefined: the tool says no events */
  reader({ name: tool, events }: Tool, stream?: string): EventReader | undefined {
    if (!events || events.length === 0) return undefined;
    let rest = "";
    let index = 0;
    const read = (line: string) => {
      const said = eventOf(line, events);
      if (!said) return;
      const place = stream === undefined ? {} : { stream: { name: stream, index } };
      index += 1;
      this.#onEvent({ tool, ...said, ...place });
    };
    return {
      add: (output) => {
        const lines = (rest + output).split("\n");
        rest = (lines.pop() ?? "").slice(0, LINE_MAX_CHARS + 1);
        for (const line of lines) read(line);
      },
      end: () => {
        read(rest);
        rest = "";
      },
    };
  }
}

function eventOf(line: string, declared: readonly string[]): Omit<SaidEvent, "tool"> | undefined {
  const text = line.trim();
  if (!text.startsWith("{") || text.length > LINE_MAX_CHARS) return undefined;
  const read = checkJson(Line, text);
  if (!read.ok || !declared.includes(read.value.event)) return undefined;
  const { event: name, value = name, text: words } = read.value;
  return {
    name,
    value: typeof value === "string" ? value.slice(0, VALUE_MAX_CHARS) : value,
    ...(words !== undefined && { text: cutText(words, TEXT_MAX_CHARS) }),
  };
}
