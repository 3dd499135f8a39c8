/** `vacuum` and `lawn_mower`: they start, pause, stop and go home. */

import { same } from "../../model/entity/fit.ts";
import { choice, notAnOption } from "../../model/entity/schemas.ts";
import { plain } from "../../model/entity/words.ts";
import { listField, payloadField } from "../config/fields.ts";
import { type MqttDraft, write } from "./draft.ts";
import { oneOf } from "./values.ts";

const VACUUM_STATES = ["idle", "docked", "error", "paused", "returning", "cleaning"];
const MOWER_STATES = ["error", "paused", "mowing", "docked", "returning"];

export function vacuum(draft: MqttDraft): void {
  const { config } = draft;
  const speeds = listField(config, "fan_speed_list");
  draft.slotOf("state", "state_topic", (message) => {
    const state = message.object()?.state;
    return state === null ? null : VACUUM_STATES.find((one) => one === state);
  });
  draft.slotOf("speed", "state_topic", (message) => {
    const speed = message.object()?.fan_speed;
    return typeof speed === "string" && speeds.includes(speed) ? speed : undefined;
  });
  draft.reading("state", plain);
  if (speeds.length > 0) draft.reading("speed", plain, { label: "fan speed" });
  const listed = listField(config, "supported_features");
  const features = listed.length > 0 ? listed : ["start", "stop", "return_home", "clean_spot"];
  const output = draft.output("command_topic");
  const command = (
    action: string,
    feature: string,
    description: string,
    key: string,
    payload: string,
    ends: string[],
  ): void => {
    if (!output || !features.includes(feature)) return;
    const send = () => [write(output, payloadField(config, key, payload))];
    draft.simple(action, description, send, output, {
      ...(ends.length > 0 && { slot: "state" }),
      words: ends[0] ?? action,
      is: (value) => ends.includes(String(value)),
      wait: "vacuum",
    });
  };
  command("start", "start", "Start cleaning.", "payload_start", "start", ["cleaning"]);
  command("pause", "pause", "Pause cleaning.", "payload_pause", "pause", ["paused", "idle"]);
  command("stop", "stop", "Stop cleaning.", "payload_stop", "stop", ["idle", "paused", "docked"]);
  command("dock", "return_home", "Send it home.", "payload_return_to_base", "return_to_base", HOME);
  command("clean_spot", "clean_spot", "Clean where it is.", "payload_clean_spot", "clean_spot", ["cleaning"]);
  command("locate", "locate", "Let it make itself heard.", "payload_locate", "locate", []);
  const speed = features.includes("fan_speed") ? draft.output("set_fan_speed_topic") : undefined;
  if (speed && speeds.length > 0)
    draft.settings(
      "Set its suction.",
      [
        {
          name: "fan_speed",
          parameter: choice(speeds),
          words: (value) => `fan speed ${value}`,
          steps: (value) =>
            speeds.includes(String(value))
              ? [write(speed, value)]
              : [{ error: notAnOption("fan_speed", speeds) }],
          confirmed: { slot: "speed", by: same },
        },
      ],
      [speed],
    );
}

/** A vacuum on its way home has obeyed. */
const HOME = ["docked", "returning"];

export function lawnMower(draft: MqttDraft): void {
  draft.slot("state", "activity_state_topic", ["activity_value_template"], oneOf(MOWER_STATES));
  draft.reading("state", plain);
  const command = (action: string, option: string, description: string, ends: string[]): void => {
    const output = draft.output(`${option}_command_topic`, `${option}_command_template`);
    if (!output) return;
    draft.simple(action, description, () => [write(output, option)], output, {
      slot: "state",
      words: ends[0] ?? action,
      is: (value) => ends.includes(String(value)),
      wait: "vacuum",
    });
  };
  command("start", "start_mowing", "Start mowing.", ["mowing"]);
  command("pause", "pause", "Pause mowing.", ["paused"]);
  command("stop", "stop", "Stop mowing.", ["paused", "docked"]);
  command("dock", "dock", "Send it home.", HOME);
}
