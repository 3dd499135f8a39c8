/** What a person, or else the bridge's setting MQTT_DEVICES, allows with a hosted device. */
import type { HostedState } from "@edgecall/core/protocol/devices.ts";
import type { DeviceSetting, StoredMode } from "./device-settings.ts";

export function modeOf({
  hosted,
  setting,
}: {
  hosted: Pick<HostedState, "mode">;
  setting: Pick<DeviceSetting, "mode"> | undefined;
}): StoredMode {
  return setting?.mode ?? (hosted.mode === "read" ? "read" : "ask");
}
