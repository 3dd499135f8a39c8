/** `todo` and `calendar`: their entries are asked for when they are wanted. All of them are people's words. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import type { Expectation, Parameter } from "../../model/entity/entity.ts";
import { plain } from "../../model/entity/words.ts";
import { harmless } from "../../model/names.ts";
import { objectOf } from "../state.ts";
import { type HomeAssistantDraft, onOff } from "./draft.ts";

const CREATE = 1;
const REMOVE = 2;
const UPDATE = 4;
const ITEM_MAX = 200;
const ITEMS_SHOWN = 50;
const EVENTS_SHOWN = 30;
const DAYS_MAX = 60;
const DAY_MS = 86_400_000;

const item: Parameter = { type: "string", minLength: 1, maxLength: ITEM_MAX };

export function todo(draft: HomeAssistantDraft): void {
  draft.stateSlot("open", (state) => Quantity.parse(state));
  draft.reading("open", (value) => `${plain(value)} open`);
  draft.queries.push({
    action: "items",
    description: "What is on the list.",
    parameters: { done: { type: "boolean", description: "also what is done" } },
    ask: ({ done }) =>
      draft.call("get_items", { status: done === true ? ["needs_action", "completed"] : ["needs_action"] }),
    words: (response) => {
      const items = listIn(response, "items").map(({ summary, status, due }) => {
        const when = typeof due === "string" ? ` (due ${harmless(due, 30)})` : "";
        return `${status === "completed" ? "[x]" : "-"} ${line(summary)}${when}`;
      });
      return listed(items, ITEMS_SHOWN, "The list is empty.");
    },
  });
  if (draft.can(CREATE)) change(draft, "add", "Add something.", "add_item", 1);
  if (draft.can(UPDATE))
    change(draft, "check_off", "Check something off.", "update_item", -1, { status: "completed" });
  if (draft.can(REMOVE)) change(draft, "remove", "Remove something.", "remove_item", -1);
}

/** The state is the number of what is open, so that changes with it. @param by how */
function change(
  draft: HomeAssistantDraft,
  action: string,
  description: string,
  service: string,
  by: 1 | -1,
  more: Readonly<Record<string, unknown>> = {},
): void {
  draft.commands.push({
    action,
    description,
    parameters: { item },
    required: ["item"],
    idempotent: false,
    wait: "value",
    targets: draft.targets,
    run: ({ item: asked }) => {
      const expect: Expectation = {
        slots: ["open"],
        words: by > 0 ? "one more open" : "one less open",
        met: (fresh, before) => {
          const [now, then] = [fresh("open")?.value, before("open")?.value];
          return now instanceof Quantity && then instanceof Quantity && now.value === then.value + by;
        },
      };
      const isReported = draft.reports("open");
      return {
        steps: [draft.call(service, { item: asked, ...more })],
        expects: isReported ? [expect] : [],
        unreported: isReported ? [] : [expect.words],
      };
    },
  });
}

export function calendar(draft: HomeAssistantDraft): void {
  draft.stateSlot("busy", onOff);
  draft.reading("busy", (value) =>
    value === true ? "an event is going on" : value === false ? "no event now" : plain(value),
  );
  draft.queries.push({
    action: "events",
    description: "Its next events.",
    parameters: { days: { type: "integer", minimum: 1, maximum: DAYS_MAX, description: "from now on; 7" } },
    ask: ({ days = 7 }, now) =>
      draft.call("get_events", {
        start_date_time: new Date(now).toISOString(),
        end_date_time: new Date(now + Number(days) * DAY_MS).toISOString(),
      }),
    words: (response) => {
      const events = listIn(response, "events").map(({ start, end, summary, location }) => {
        const where = typeof location === "string" && location !== "" ? `, ${line(location)}` : "";
        return `${timeText(start)} to ${timeText(end)}: ${line(summary)}${where}`;
      });
      return listed(events, EVENTS_SHOWN, "There is no event.");
    },
  });
  if (!draft.can(CREATE)) return;
  const time: Parameter = {
    type: "string",
    maxLength: 20,
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2})?$",
    description: "YYYY-MM-DD HH:MM, by the clock of the household",
  };
  draft.commands.push({
    action: "create",
    description: "Create an event.",
    parameters: { summary: item, start: time, end: time, location: item },
    required: ["summary", "start", "end"],
    idempotent: false,
    wait: "value",
    targets: draft.targets,
    run: ({ start, end, ...more }) => ({
      steps: [draft.call("create_event", { ...more, start_date_time: start, end_date_time: end })],
      expects: [],
      unreported: ["whether the event is there"],
    }),
  });
}

function listIn(response: unknown, name: string): Readonly<Record<string, unknown>>[] {
  const list = objectOf(response)[name];
  return (Array.isArray(list) ? list : []).map(objectOf);
}

function listed(lines: readonly string[], max: number, none: string): string {
  if (lines.length === 0) return none;
  const more = lines.length > max ? [`… and ${lines.length - max} more`] : [];
  return [...lines.slice(0, max), ...more].join("\n");
}

function line(value: unknown): string {
  return typeof value === "string" ? harmless(value, ITEM_MAX) : "";
}

/** `2026-11-28T10:00:00+01:00` without what is the same in each line. */
function timeText(value: unknown): string {
  return oneLine(
    line(value)
      .replace("T", " ")
      .replace(/:00(?:[+-][\d:]+|Z)?$/, ""),
    20,
  );
}
