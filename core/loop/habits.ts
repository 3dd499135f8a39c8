/**
 * What an endpoint or model refuses, and the form that it takes. Each row is found by the words of a refusal, since endpoints agree on
 * no code for it; the request is sent again in that form, and the form is remembered for this address and model.
 */
import type { ModelError } from "./retry.ts";

export type Habit =
  | "no_pictures"
  | "max_completion_tokens"
  | "no_stream_options"
  | "no_stream"
  | "no_temperature"
  | "no_tool_choice"
  | "no_replay"
  | "no_thinking"
  | "no_cache_marks"
  | "fewer_tokens"
  | "no_null_content"
  | "named_results"
  | "ids_of_nine"
  | "answer_after_results"
  | "one_call_a_message"
  | "alternating_roles"
  | "no_system"
  | "dummy_signatures"
  | "empty_reasoning";

type Row = {
  habit: Habit;
  words: RegExp;
  /** Where this one is in force it is the cause, so it is dropped first. */
  undoes?: Habit;
};

/**
 * The order matters: the first row that fits and is not in force yet is tried. A row whose form changes nothing in the request is
 * passed over by the caller.
 */
const ROWS: readonly Row[] = [
  {
    habit: "dummy_signatures",
    words: /missing an? .?thought_?signature|thought_signature.*(?:required|missing)/i,
    undoes: "no_replay",
  },
  {
    habit: "empty_reasoning",
    words:
      /(?:missing|must (?:be|contain|include|have)|requires?|required|expected).{0,60}reasoning_content|reasoning_content.{0,60}(?:is missing|missing|required|must be (?:passed|provided|sent))/i,
    undoes: "no_replay",
  },
  // Anthropic's: a history without thoughts, for a model that thinks by itself.
  { habit: "no_thinking", words: /expected .?(?:redacted_)?thinking|must start with a thinking block/i },
  {
    habit: "no_replay",
    words:
      /(?:reasoning(?:_content|_details)?|extra_content|thinking_blocks|signature)\b.{0,160}(?:unsupported|not supported|extra|forbidden|not permitted|not allowed|unknown|unrecognized|unexpected|invalid)|(?:unsupported|extra|forbidden|not permitted|not allowed|unknown|unrecognized|unexpected|wrong_api_format|property).{0,160}\b(?:reasoning(?:_content|_details)?|extra_content|thinking_blocks)\b|invalid .?signature|thinking.{0,60} blocks?.{0,60}cannot be modified/i,
  },
  { habit: "no_cache_marks", words: /cache_control/ },
  { habit: "fewer_tokens", words: /max_tokens\D{0,20}\d+ > \d+/ },
  { habit: "max_completion_tokens", words: /max_completion_tokens/ },
  { habit: "no_stream_options", words: /stream_options|include_usage/ },
  {
    habit: "no_stream",
    words:
      /(?:verified to stream|streaming (?:is )?(?:not|un)|(?:not|n't) support (?:streaming|stream\b)|unsupported[^.]{0,40}'?\bstream\b)/i,
  },
  { habit: "no_temperature", words: /temperature/i },
  { habit: "no_tool_choice", words: /tool.choice/i },
  {
    habit: "ids_of_nine",
    words:
      /tool.?call.?id.{0,120}(?:length|characters|a-z|format|invalid|pattern)|(?:length|a-zA-Z0-9|exactly) ?.{0,80}(?:of|for)? ?9\b/i,
  },
  {
    habit: "answer_after_results",
    words:
      /role '?"?user'?"? after (?:role )?'?"?tool|user.{0,20}(?:cannot|can't|must not) follow.{0,20}tool|invalid_request_message_order/i,
  },
  {
    habit: "one_call_a_message",
    words:
      /(?:only|single|one) .{0,20}tool.?calls? (?:at once|at a time|per)|multiple tool calls? .{0,40}not supported/i,
  },
  {
    habit: "alternating_roles",
    words: /roles? must alternate|alternat\w+ (?:user|roles|between)|consecutive (?:user|messages)/i,
  },
  {
    habit: "no_system",
    words:
      /system (?:role|message|prompt|instruction)s?.{0,40}(?:not supported|unsupported|not allowed|not enabled)|(?:not support|unsupported|invalid).{0,30}(?:system (?:role|message|prompt|instruction)|developer instruction|role.{0,4}system)|developer instruction is not enabled/i,
  },
  {
    habit: "named_results",
    words:
      /function_?response\.name|name.{0,40}(?:cannot be empty|must not be empty|is required|field required|missing).{0,60}|(?:missing|empty|required).{0,60}\bname\b/i,
  },
  {
    habit: "no_null_content",
    words:
      /(?<!_)content.{0,120}(?:null|none|\bnil\b|valid string|must be a string|required|missing|undefined)|(?:null|none|nil).{0,80}(?<!_)content/i,
  },
  {
    habit: "no_pictures",
    words:
      /image|picture|vision|visual|multi-?modal|modalit|content.{0,40}(?:must be|expected|should be).{0,20}(?:string|str\b|text)|content type|content part|mmproj|unknown variant/i,
  },
];

/** Statuses of a refused form. Any other one is of the endpoint's state. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);

/**
 * @param inForce a form in force whose words are refused may be one that the endpoint takes no more
 * @returns the forms to change for the words, in the order in which to try it
 */
export function habitsFor(error: ModelError, inForce: ReadonlySet<Habit> = new Set()): Habit[] {
  if (error.status !== undefined && !REFUSALS.has(error.status)) return [];
  const { words } = error;
  if (words === "") return [];
  const fitting = ROWS.filter((row) => row.words.test(words));
  const undone = fitting.flatMap(({ undoes }) => (undoes && inForce.has(undoes) ? [undoes] : []));
  const habits = fitting.map(({ habit }) => habit);
  const isNew = (habit: Habit) => !inForce.has(habit);
  return [...undone, ...habits.filter(isNew), ...habits.filter((habit) => !isNew(habit))];
}

/** Tells whether the words are of something that a form may have taken out of the request, or changed. */
export function tellsOfMissing({ words }: ModelError): boolean {
  return ROWS.some((row) => row.undoes !== undefined && row.words.test(words));
}

/** Known of an endpoint from its documentation, so that it does not have to refuse first. */
const OF_HOSTS: ReadonlyArray<readonly [host: RegExp, habits: readonly Habit[]]> = [
  [/(?:^|\.)googleapis\.com$/, ["named_results", "dummy_signatures"]],
  [/(?:^|\.)mistral\.ai$/, ["ids_of_nine", "answer_after_results", "named_results", "no_null_content"]],
];

export function habitsOfHost(host: string): readonly Habit[] {
  return OF_HOSTS.find(([name]) => name.test(host))?.[1] ?? [];
}

/** Stores what was learned of addresses and models, in the program that asks them. */
export type HabitStore = {
  /** @param source `sourceOf` the model (replay.ts) */
  of(source: string): readonly string[];
  /** Forms were needed and taken. @param dropped forms that were known, and are refused now */
  learned(source: string, habits: readonly Habit[], dropped: readonly Habit[]): void;
};

/** Remembers for as long as the program runs. */
export class HabitsInMemory implements HabitStore {
  readonly #habits = new Map<string, readonly Habit[]>();

  of(source: string): readonly Habit[] {
    return this.#habits.get(source) ?? [];
  }

  learned(source: string, habits: readonly Habit[], dropped: readonly Habit[] = []): void {
    this.#habits.set(source, withHabits(this.of(source), habits, dropped));
  }
}

/** @returns what is known of an address and model after it was asked */
export function withHabits<H extends string>(
  known: readonly H[],
  learned: readonly H[],
  dropped: readonly H[],
): H[] {
  return [...new Set([...known.filter((it) => !dropped.includes(it)), ...learned])];
}

const ALL: ReadonlySet<string> = new Set(ROWS.map(({ habit }) => habit));

/** Returns the stored names that this version knows. */
export function knownHabits(names: readonly string[]): Habit[] {
  return names.filter((name): name is Habit => ALL.has(name));
}
