/** `button`, `scene`, `script`, `notify` and `event`: they do something or tell of something, and nothing says whether it was done. */
import { plain } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const MESSAGE_MAX = 1_000;
const TITLE = 1;

/** Its time stamp is Home Assistant's own, and moves also when the press fails. */
export function button(draft: HomeAssistantDraft): void {
  if (["restart", "update"].includes(draft.class ?? "")) draft.danger = `it is for ${draft.class}`;
  act(draft, "press", "Press it.", "press");
}

export function scene(draft: HomeAssistantDraft): void {
  draft.danger = "it is a scene, which may change anything";
  act(draft, "activate", "Activate it.", "turn_on");
}

/** It is started, and may wait for hours. Its fields are Home Assistant's alone, so one that needs some fails there. */
export function script(draft: HomeAssistantDraft): void {
  draft.danger = "it is a script, which may do anything";
  draft.stateSlot("running", (state) => (state === "on" ? true : state === "off" ? false : undefined));
  draft.reading("running", (value) =>
    value === true ? "running" : value === false ? "not running" : plain(value),
  );
  act(draft, "run", "Run it.", "turn_on");
}

/** Its message goes out to a person, or to a device that speaks. */
export function notify(draft: HomeAssistantDraft): void {
  draft.danger = "it sends a message";
  const text = { type: "string", minLength: 1, maxLength: MESSAGE_MAX } as const;
  draft.commands.push({
    action: "send",
    description: "Send a message by it.",
    parameters: { message: text, ...(draft.can(TITLE) && { title: { ...text, maxLength: 100 } }) },
    required: ["message"],
    idempotent: false,
    wait: "value",
    targets: draft.targets,
    run: (asked) => ({
      steps: [draft.call("send_message", asked)],
      expects: [],
      unreported: ["whether it arrived"],
    }),
  });
}

/** Its state is the time at which it happened last, and an attribute says what happened. */
export function event(draft: HomeAssistantDraft): void {
  const types = draft.list("event_types");
  draft.slot("event", ({ state, attributes: { event_type } }) => {
    if (state === "unknown") return null;
    return types.find((type) => type === event_type);
  });
  draft.reading("event", (value) => `last event: ${plain(value).replaceAll("_", " ")}`);
  draft.stateSlot("at", (state) => (/^[\d:.+TZ -]{8,40}$/.test(state) ? state : undefined));
  draft.reading("at", plain, { label: "time of the last event" });
}

function act(draft: HomeAssistantDraft, action: string, description: string, service: string): void {
  draft.addSimple(action, description, () => [draft.call(service)], draft.targets, {
    words: "what it does",
    is: () => false,
    idempotent: action === "activate",
    changesOthers: true,
  });
}
