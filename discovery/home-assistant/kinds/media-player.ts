/** `media_player`: what plays, how loud, and from where. Titles are strangers' words. */
import { Quantity } from "@edgecall/core/text/quantity.ts";
import type { Setting } from "../../model/entity/draft.ts";
import type { SlotValue } from "../../model/entity/entity.ts";
import { same } from "../../model/entity/fit.ts";
import { onOffText, plain, withUnit } from "../../model/entity/words.ts";
import { chosen } from "./choices.ts";
import type { HomeAssistantDraft } from "./draft.ts";
import { switching } from "./switch.ts";

const STATES = ["off", "on", "idle", "playing", "paused", "standby", "buffering"];
const OFF = ["off", "standby"];
const PAUSE = 1;
const VOLUME_SET = 4;
const VOLUME_MUTE = 8;
const PREVIOUS = 16;
const NEXT = 32;
const TURN_ON = 128;
const TURN_OFF = 256;
const SELECT_SOURCE = 2_048;
const STOP = 4_096;
const PLAY = 16_384;
const SELECT_SOUND_MODE = 65_536;
/** Of 1, with the error of a float. */
const NEAR_VOLUME = 0.020_001;

export function mediaPlayer(draft: HomeAssistantDraft): void {
  draft.stateSlot("state", (state) => STATES.find((one) => one === state));
  draft.reading("state", plain);
  for (const [slot, attribute] of [
    ["title", "media_title"],
    ["artist", "media_artist"],
    ["app", "app_name"],
  ] as const) {
    draft.slot(slot, ({ attributes }) => textOf(attributes[attribute]));
    draft.reading(slot, plain, { label: slot, free: true, isThere: (value) => value(slot) !== null });
  }
  draft.addSettings("Switch it on or off, or change its volume or source.", settingsOf(draft), draft.targets);
  act(draft, PLAY, "play", "Go on playing.", "media_play", ["playing", "buffering"]);
  act(draft, PAUSE, "pause", "Pause it.", "media_pause", ["paused"]);
  act(draft, STOP, "stop", "Stop it.", "media_stop", ["idle", "off", "on", "standby"]);
  act(draft, NEXT, "next", "Play the next track.", "media_next_track", []);
  act(draft, PREVIOUS, "previous", "Play the track before.", "media_previous_track", []);
}

function settingsOf(draft: HomeAssistantDraft): (Setting | undefined)[] {
  const isOn = (value: SlotValue) => typeof value === "string" && !OFF.includes(value);
  const settings: (Setting | undefined)[] = [
    draft.can(TURN_ON) && draft.can(TURN_OFF)
      ? switching(draft, {
          slot: "state",
          by: (asked, reported) => typeof reported === "string" && isOn(reported) === asked,
        })
      : undefined,
  ];
  if (draft.can(VOLUME_SET)) {
    draft.slot("volume", ({ attributes: { volume_level } }) => {
      if (typeof volume_level !== "number" || !(volume_level >= 0 && volume_level <= 1)) return null;
      return Quantity.of(Math.round(volume_level * 100), volume_level);
    });
    draft.reading("volume", withUnit("%"), {
      label: "volume",
      unit: "%",
      isThere: (value) => value("volume") !== null,
    });
    draft.details.push("volume");
    settings.push({
      name: "volume_pct",
      parameter: { type: "integer", minimum: 0, maximum: 100, description: "percent" },
      words: (value) => `volume ${value} %`,
      steps: (value) => [draft.call("volume_set", { volume_level: Number(value) / 100 })],
      // Many count in 20 or 50 steps.
      confirmed: {
        slot: "volume",
        by: (asked, value) =>
          value instanceof Quantity && Math.abs(value.own - Number(asked) / 100) <= NEAR_VOLUME,
      },
    });
  }
  if (draft.can(VOLUME_MUTE)) {
    draft.slot("muted", ({ attributes: { is_volume_muted } }) =>
      typeof is_volume_muted === "boolean" ? is_volume_muted : null,
    );
    draft.reading("muted", onOffText, { label: "muted", isThere: (value) => value("muted") === true });
    settings.push({
      name: "muted",
      parameter: { type: "boolean" },
      words: (value) => (value === true ? "muted" : "not muted"),
      steps: (value) => [draft.call("volume_mute", { is_volume_muted: value })],
      confirmed: { slot: "muted", by: same },
    });
  }
  settings.push(
    chosen(
      draft,
      draft.can(SELECT_SOURCE) ? draft.list("source_list") : [],
      { name: "source", label: "source" },
      (source) => draft.call("select_source", { source }),
    ),
    chosen(
      draft,
      draft.can(SELECT_SOUND_MODE) ? draft.list("sound_mode_list") : [],
      { name: "sound_mode", label: "sound mode" },
      (sound_mode) => draft.call("select_sound_mode", { sound_mode }),
    ),
  );
  return settings;
}

function act(
  draft: HomeAssistantDraft,
  bit: number,
  action: string,
  description: string,
  service: string,
  ends: readonly string[],
): void {
  if (!draft.can(bit)) return;
  draft.addSimple(action, description, () => [draft.call(service)], draft.targets, {
    ...(ends.length > 0 && { slot: "state" }),
    words: ends[0] ?? "which track it plays",
    is: (value) => ends.includes(String(value)),
    idempotent: ends.length > 0,
  });
}

function textOf(value: unknown): SlotValue {
  return typeof value === "string" && value !== "" ? value : null;
}
