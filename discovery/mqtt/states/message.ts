/** A message of the broker as the entities on its topic read it, and the values that they keep of it. */
import { jsonIn } from "@edgecall/core/protocol/json-text.ts";
import { isObject } from "../config/fields.ts";
import { SharedBudget } from "../template/budget.ts";
import { jsonVariable, type TemplateValue } from "../template/template.ts";

/** Steps of the templates of all entities that read one message: 2,000 sensors with 25 steps each, where most take 6. */
const STEPS_A_MESSAGE = 50_000;

/** Our file had kept it with its time, which a clock that is set now does not change. */
export function isOfEarlierRun({ at, retained }: { at: number | null; retained: boolean }): boolean {
  return retained && at !== null;
}

export class Message {
  /** As it came, for pictures. */
  readonly bytes: Uint8Array | undefined;
  /** Rises with every message. */
  readonly number: number;
  /** Time at which it came (epoch ms). */
  now: number;
  /** Time at which its value was reported; null: unknown, since the broker had kept it. */
  at: number | null;
  /** It was kept, so it confirms nothing. */
  readonly retained: boolean;
  /** What the templates of its entities may still do. */
  budget = new SharedBudget(STEPS_A_MESSAGE);
  readonly #text: string | undefined;
  #json: { value: unknown } | undefined;
  #variable: { value: TemplateValue | undefined } | undefined;

  constructor(
    payload: string | Uint8Array,
    { number, now, at, retained }: { number: number; now: number; at: number | null; retained: boolean },
  ) {
    if (typeof payload === "string") this.#text = payload;
    else this.bytes = payload;
    this.number = number;
    this.now = now;
    this.at = at;
    this.retained = retained;
  }

  /** Bytes that are no UTF-8 become replacement characters. */
  get text(): string {
    return this.#text ?? new TextDecoder().decode(this.bytes);
  }

  /** Parsed once for all entities of the topic; undefined when it is not JSON. */
  json(): unknown {
    this.#json ??= { value: jsonIn(this.text) };
    return this.#json.value;
  }

  /** The same for templates, which tell 20.0 from 20. */
  variable(): TemplateValue | undefined {
    this.#variable ??= { value: jsonVariable(this.text) };
    return this.#variable.value;
  }

  /** The clock was set by so many ms. */
  clockSet(by: number): void {
    if (isOfEarlierRun(this)) return;
    this.now += by;
    if (this.at !== null) this.at += by;
  }

  /** Its entities have read it, and it stays in memory as text alone. */
  dropParsed(): void {
    this.budget = new SharedBudget(STEPS_A_MESSAGE);
    this.#json = undefined;
    this.#variable = undefined;
  }

  /** @returns undefined when it is no JSON object */
  object(): Record<string, unknown> | undefined {
    const value = this.json();
    return isObject(value) ? value : undefined;
  }
}

/** The text that was parsed last: many entities read the same one. */
let last: { text: string; value: unknown } = { text: "", value: undefined };

/** The value is shared, so it is only read. @returns undefined: it is no JSON */
export function parsedJson(text: string): unknown {
  if (text !== last.text) last = { text, value: jsonIn(text) };
  return last.value;
}
