/** Hosted devices for people: the list, what a person decides about one, and its end. */

import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { DEVICES_FEATURE, IS_SETTING } from "@edgecall/core/protocol/devices.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import type { DeviceActionView, DeviceList, DeviceView } from "../../../kernel/api/answers.ts";
import type { DeviceBody, Person } from "../../../kernel/api/devices.ts";
import { agentRowsOf } from "../../../kernel/home/agents/agent-rows.ts";
import { type HostedDevice, hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { auditDecision } from "../../../kernel/home/audit/decisions.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { hasChanged } from "../../../kernel/home/calls/permission.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { modeOf } from "../../../kernel/home/devices/device-mode.ts";
import type { DeviceChange } from "../../../kernel/home/devices/device-settings.ts";
import { deviceStatesOf } from "../../../kernel/home/devices/device-states.ts";
import { endWhatIsOver } from "../../../kernel/home/permissions/ends.ts";
import { type PermissionRow, permissionsOf } from "../../../kernel/home/permissions/permission-store.ts";
import { allowWhole, endOfDevice, isWholeAllowed } from "../../../kernel/home/permissions/whole-device.ts";

/** @param all also readings that are diagnostic or settings */
export async function deviceViews(home: HomeContext, all: boolean): Promise<DeviceList> {
  const answer = await deviceStatesOf(home).answer(undefined, all);
  // While the bridge answered, others may have come and gone.
  const devices = hostedDevicesOf(home)
    .all()
    .flatMap((device) => viewOf(home, device, answer?.states.get(device.id)?.readings ?? null) ?? []);
  return { devices, left_out: answer?.leftOut ?? null };
}

function viewOf(home: HomeContext, device: HostedDevice, readings: Reading[] | null): DeviceView | undefined {
  const { id, hosted, setting } = device;
  const now = Date.now();
  const offersSettings = setting?.offersSettings ?? false;
  const target = servedAgentsOf(home).targetOfDevice(id, now);
  if (!target) return undefined;
  const { adverts, line, online, reason, lastSeen } = target;
  const newText = agentRowsOf(home).get(id)?.newText;
  const rows = endWhatIsOver(home, now, hosted.key);
  const isAllowed = rows.length > 0 && isWholeAllowed(home, device);
  return {
    id,
    name: setting?.name ?? hosted.name,
    area: setting?.area ?? hosted.area ?? null,
    own: { name: setting?.name ?? null, area: setting?.area ?? null },
    line,
    model: hosted.model ?? null,
    publisher: hosted.publisher ?? null,
    online,
    ...(reason !== undefined && { reason }),
    last_seen: lastSeen,
    ghost: servedAgentsOf(home).isGhost(id, now),
    mode: isAllowed ? "allowed" : modeOf(device),
    chosen: setting?.mode != null,
    allow: hosted.allow,
    ...allowedBy(home, device, rows),
    changed: hasChanged(home, device),
    actions: adverts.map(actionView),
    settings: { offered: offersSettings, actions: [...hostedDevicesOf(home).settingsOf(id)] },
    readings,
    not_offered: (hosted.not_offered ?? []).filter(({ why }) => !offersSettings || why !== IS_SETTING),
    ...(newText && { new_text: newText }),
  };
}

/** Who allowed it last: of the permissions that hold, or of the one that ended since the device changed. */
function allowedBy(
  home: HomeContext,
  { hosted, setting }: HostedDevice,
  rows: readonly PermissionRow[],
): Pick<DeviceView, "allowed_by" | "allowed_at"> {
  const row =
    rows.findLast(({ permission }) => permission.who === "everybody") ??
    permissionsOf(home).changed(hosted.key);
  if (!row) return { allowed_by: setting?.allowedBy ?? null, allowed_at: setting?.allowedAt ?? null };
  return { allowed_by: row.permission.by, allowed_at: row.since ?? row.permission.at };
}

function actionView(advert: ActionAdvert): DeviceActionView {
  const {
    name,
    description,
    parameters,
    effect = "device",
    timeout_ms,
    danger,
    danger_why,
    retained,
  } = advert;
  return {
    name,
    description,
    parameters,
    effect,
    ...(timeout_ms !== undefined && { timeout_ms }),
    ...(danger && { dangerous: true }),
    ...(danger && danger_why !== undefined && { why: danger_why }),
    ...(retained && { retained: true }),
  };
}

/**
 * @param by the person
 * @param isNewMode false: the device has this mode already, so its permissions stay
 * @returns `changed`: the device is not what the person saw; `full`: there are too many permissions
 */
export function changeDevice(
  home: HomeContext,
  id: string,
  { mode, allow, name, area, settings }: DeviceBody,
  by: Person,
  isNewMode = mode !== undefined,
): DeviceView | "changed" | "full" | "unknown" {
  const device = hostedDevicesOf(home).get(id);
  if (!device) return "unknown";
  const { hosted } = device;
  if (allow !== undefined && allow !== hosted.allow) return "changed";
  const change: DeviceChange = {
    ...(name !== undefined && { name }),
    ...(area !== undefined && { area }),
    ...(settings !== undefined && { offersSettings: settings }),
    ...(mode !== undefined && { mode: mode === "allowed" ? "ask" : mode }),
  };
  const caller = { principal: by.name, role: by.role, channel: "api" };
  // A new mode is a new decision: what was allowed before counts no more.
  if (isNewMode) endOfDevice(home, device, mode === "allowed" ? "ended" : "mode", caller);
  hostedDevicesOf(home).change(device, change, by.name);
  const changedDevice = hostedDevicesOf(home).get(id) ?? device;
  const isFull =
    mode === "allowed" && !allowWhole(home, changedDevice, { by: by.name, how: "press", since: null });
  record(home, "device_change", by, {
    device: id,
    ...(mode !== undefined && { mode }),
    ...(name !== undefined && { name }),
    ...(area !== undefined && { area }),
    ...(settings !== undefined && { settings }),
  });
  return isFull ? "full" : (viewOf(home, changedDevice, null) ?? "unknown");
}

/** A device that is online would be back at once: it is switched off in place of that. */
export function forgetDevice(
  home: HomeContext,
  id: string,
  by: Person,
): "forgotten" | "online" | "no_bridge" | "unknown" {
  const now = Date.now();
  const device = hostedDevicesOf(home).get(id);
  if (!device) return "unknown";
  if (servedAgentsOf(home).isOnline(id, now)) return "online";
  const { key } = device.hosted;
  if (!bridgeOf(home).has(DEVICES_FEATURE, now) || !bridgeOf(home).send({ t: "forget_device", key }, now))
    return "no_bridge";
  endOfDevice(home, device, "device_gone", { principal: by.name, role: by.role, channel: "api" });
  hostedDevicesOf(home).forget(device);
  record(home, "device_forget", by, { device: id });
  return "forgotten";
}

/** The record has who decided what about a device. */
function record(home: HomeContext, tool: string, by: Person, parameters: Record<string, unknown>): void {
  auditDecision(home, tool, { principal: by.name, role: by.role, channel: "api" }, parameters);
}
