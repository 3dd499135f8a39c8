/** `date`, `time`, `datetime`, `input_datetime` and `timer`: times that are set. */
import type { Parameter } from "../../model/entity/entity.ts";
import { plain } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
const TIME = "[0-9]{2}:[0-9]{2}(:[0-9]{2})?";
const STATES = ["idle", "active", "paused"];
const DURATION_MAX_S = 86_400;

type Form = { description: string; pattern: string };

const FORMS = {
  date: { description: "YYYY-MM-DD", pattern: `^${DATE}$` },
  time: { description: "HH:MM or HH:MM:SS", pattern: `^${TIME}$` },
  datetime: {
    description: "YYYY-MM-DD HH:MM, by the clock of the household",
    pattern: `^${DATE}[ T]${TIME}$`,
  },
} as const satisfies Readonly<Record<string, Form>>;

export function dateEntity(draft: HomeAssistantDraft): void {
  timeValue(draft, "date", "set_value");
}

export function timeEntity(draft: HomeAssistantDraft): void {
  timeValue(draft, "time", "set_value");
}

export function dateTimeEntity(draft: HomeAssistantDraft): void {
  timeValue(draft, "datetime", "set_value");
}

/** A helper has a date, a time, or both. */
export function inputDateTime(draft: HomeAssistantDraft): void {
  const [hasDate, hasTime] = [draft.says("has_date"), draft.says("has_time")];
  if (!hasDate && !hasTime) return;
  timeValue(draft, hasDate && hasTime ? "datetime" : hasDate ? "date" : "time", "set_datetime");
}

function timeValue(draft: HomeAssistantDraft, form: keyof typeof FORMS, service: string): void {
  const { description, pattern } = FORMS[form];
  draft.stateSlot("value", (state) => (/^[\d:.+TZ -]{5,40}$/.test(state) ? state : undefined));
  draft.reading("value", plain);
  const setting = {
    name: "value",
    parameter: { type: "string", maxLength: 25, pattern, description } satisfies Parameter,
    words: String,
    steps: (value: unknown) => [draft.call(service, { [form]: value })],
    confirmed: {
      slot: "value",
      by: (asked: unknown, reported: unknown) =>
        typeof reported === "string" && sameTime(asked, byClock(reported, draft.entry.timeZone)),
    },
  };
  draft.addSettings("Set it.", [setting], draft.targets);
}

/** 07:30 is 07:30:00. */
function sameTime(asked: unknown, reported: string): boolean {
  const wanted = String(asked).replace("T", " ");
  return reported === wanted || reported === `${wanted}:00`;
}

/** A `datetime` is set by the clock of the household, and reported in UTC. */
function byClock(reported: string, timeZone: string): string {
  if (!/T.*(?:Z|[+-]\d\d:\d\d)$/.test(reported)) return reported;
  const time = Date.parse(reported);
  // Swedish writes it as ISO does.
  return Number.isNaN(time)
    ? reported
    : new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" }).format(time);
}

export function timer(draft: HomeAssistantDraft): void {
  draft.stateSlot("state", (state) => STATES.find((one) => one === state));
  draft.reading("state", plain);
  draft.slot("ends", ({ state, attributes: { finishes_at } }) =>
    state === "active" && typeof finishes_at === "string" && /^[\d:.+TZ-]{8,40}$/.test(finishes_at)
      ? finishes_at
      : null,
  );
  draft.reading("ends", plain, { label: "ends", isThere: (value) => value("ends") !== null });
  const is = (state: string) => ({ slot: "state", words: state, is: (value: unknown) => value === state });
  draft.commands.push({
    action: "start",
    description: "Start it, or go on with it.",
    parameters: {
      duration_s: {
        type: "integer",
        minimum: 1,
        maximum: DURATION_MAX_S,
        description: "seconds; absent: its own",
      },
    },
    required: [],
    idempotent: false,
    wait: "value",
    targets: draft.targets,
    run: ({ duration_s }) => ({
      steps: [draft.call("start", duration_s === undefined ? {} : { duration: duration_s })],
      expects: [draft.expectation("state", "active", "active", (asked, value) => asked === value)],
      unreported: [],
    }),
  });
  draft.addSimple("pause", "Pause it.", () => [draft.call("pause")], draft.targets, is("paused"));
  draft.addSimple(
    "cancel",
    "End it; nothing happens then.",
    () => [draft.call("cancel")],
    draft.targets,
    is("idle"),
  );
}
