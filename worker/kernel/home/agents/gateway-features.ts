/** The features that this gateway tells its agents. An agent is told anew when they change. */
import { CALL_FEATURE, SESSIONS_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import type { Env } from "../../env.ts";
import { settingsOrError } from "../../settings/settings.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import type { BridgeSocket } from "../bridge/bridge-socket.ts";

export function gatewayFeatures(bridge: Pick<BridgeSocket, "has">, env: Env): string[] {
  // An older bridge drops the event.
  if (!bridge.has(CALL_FEATURE, Date.now())) return [];
  const settings = settingsOrError(env);
  const hasSessions = !(settings instanceof SettingsError) && settings.tools.sessions;
  return hasSessions ? [CALL_FEATURE, SESSIONS_FEATURE] : [CALL_FEATURE];
}
