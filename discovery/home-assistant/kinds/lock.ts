/** `lock` and `alarm_control_panel`. What opens or disarms asks each time; what locks or arms does not. */
import type { Command, Parameter, SlotValue } from "../../model/entity/entity.ts";
import { plain } from "../../model/entity/words.ts";
import type { HomeAssistantDraft } from "./draft.ts";

const LOCK_STATES = ["locked", "locking", "unlocked", "unlocking", "jammed", "open", "opening"];
const OPEN = 1;
const CODE_MAX = 32;

export function lock(draft: HomeAssistantDraft): void {
  draft.danger = "it is a lock";
  draft.stateSlot("state", (state) => LOCK_STATES.find((one) => one === state));
  draft.reading("state", plain);
  act(draft, "lock", "Lock it.", "lock", ["locked"], { harmless: true, lasting: true });
  act(draft, "unlock", "Unlock it.", "unlock", ["unlocked"], { lasting: true });
  if (draft.can(OPEN)) act(draft, "open", "Open its latch.", "open", ["open"]);
}

const ARMS = [
  ["home", 1],
  ["away", 2],
  ["night", 4],
  ["vacation", 32],
] as const;

export function alarm(draft: HomeAssistantDraft): void {
  draft.danger = "it is an alarm";
  draft.stateSlot("state", (state) =>
    /^(?:disarmed|arming|pending|triggered|disarming|armed_[a-z_]{1,20})$/.test(state) ? state : undefined,
  );
  draft.reading("state", (value) => plain(value).replaceAll("_", " "));
  for (const [mode, bit] of ARMS)
    if (draft.can(bit))
      act(draft, `arm_${mode}`, `Arm it (${mode}).`, `alarm_arm_${mode}`, [`armed_${mode}`], {
        harmless: true,
        wait: "alarm",
      });
  act(draft, "disarm", "Disarm it.", "alarm_disarm", ["disarmed"]);
}

function act(
  draft: HomeAssistantDraft,
  action: string,
  description: string,
  service: string,
  ends: readonly string[],
  more: Partial<Command> = {},
): void {
  const takesCode = draft.text("code_format") !== undefined;
  const isFree = action.startsWith("arm_") && draft.saysNot("code_arm_required");
  // A person may have given Home Assistant a code for it.
  const needsCode = takesCode && !isFree && draft.entry.hasDefaultCode !== true;
  const code: Parameter = { type: "string", minLength: 1, maxLength: CODE_MAX, writeOnly: true };
  draft.commands.push({
    action,
    description,
    parameters: takesCode ? { code } : {},
    required: needsCode ? ["code"] : [],
    idempotent: true,
    wait: "cover",
    targets: draft.targets,
    ...more,
    run: ({ code: given }) => {
      const words = (ends[0] ?? action).replaceAll("_", " ");
      const is = (_: unknown, value: SlotValue) => ends.includes(String(value));
      return {
        steps: [draft.call(service, given === undefined ? {} : { code: given })],
        expects: draft.reports("state")
          ? [
              {
                ...draft.expectation("state", undefined, words, is),
                fails: (fresh) => fresh("state")?.value === "jammed",
              },
            ]
          : [],
        unreported: draft.reports("state") ? [] : [words],
      };
    },
  });
}
