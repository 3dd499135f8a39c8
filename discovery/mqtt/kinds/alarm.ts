/** `alarm_control_panel`: arming only. Disarming and triggering are not offered, and neither is what needs a code. */

import { withSteps } from "../../model/entity/draft.ts";
import { plain } from "../../model/entity/words.ts";
import { flagField, listField, payloadField } from "../config/fields.ts";
import { type MqttDraft, topicsOf, write } from "./draft.ts";
import { oneOf } from "./values.ts";

const MODES = ["home", "away", "night", "vacation", "custom_bypass"];
const STATES = [
  "disarmed",
  ...MODES.map((mode) => `armed_${mode}`),
  "pending",
  "arming",
  "disarming",
  "triggered",
];

export function alarm(draft: MqttDraft): void {
  const { config } = draft;
  draft.danger = "it is an alarm";
  draft.slot("state", "state_topic", ["value_template"], oneOf(STATES));
  draft.reading("state", (value) => plain(value).replaceAll("_", " "));
  draft.leave("disarm, trigger", "an alarm is only armed here");
  const features = listField(config, "supported_features");
  const modes = MODES.filter((mode) => features.length === 0 || features.includes(`arm_${mode}`));
  if (modes.length === 0) return;
  if (draft.has("code") && flagField(config, "code_arm_required", true)) {
    draft.leave("arm", "it needs a code");
    return;
  }
  const output = draft.output("command_topic", "command_template");
  if (!output) return;
  draft.commands.push({
    action: "arm",
    description: "Arm it.",
    parameters: { mode: { type: "string", enum: modes } },
    required: ["mode"],
    idempotent: true,
    // Most count down first.
    wait: "cover",
    targets: topicsOf([output]),
    run: ({ mode }) => {
      const action = payloadField(config, `payload_arm_${mode}`, `ARM_${String(mode).toUpperCase()}`);
      const armed = `armed_${mode}`;
      const expect = draft.expectation(
        "state",
        armed,
        armed.replaceAll("_", " "),
        (_, value) => value === armed,
      );
      const isReported = draft.reports("state");
      const message = write(output, action, { action, code: null });
      return withSteps([message], isReported ? [expect] : [], isReported ? [] : [expect.words]);
    },
  });
}
