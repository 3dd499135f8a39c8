/** A profile: one decision about several devices, each as the person saw it. It is what `PATCH /v1/devices/{device}` does, for all of them or none. */
import type { DeviceBody, Person, ProfileBody, ProfileView } from "../../../kernel/api/devices.ts";
import { type HostedDevice, hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { modeOf } from "../../../kernel/home/devices/device-mode.ts";
import { permissionsOf } from "../../../kernel/home/permissions/permission-store.ts";
import { isWholeAllowed, sortedActions } from "../../../kernel/home/permissions/whole-device.ts";
import { changeDevice } from "./device-views.ts";

type Mode = NonNullable<DeviceBody["mode"]>;

/** The mode of a device by profile. `allowed` writes one exact permission for each harmless action that it has now. */
const MODE: Readonly<Record<ProfileBody["profile"], Mode>> = { look: "read", ask: "ask", act: "allowed" };

/** Each device that is not switched off, with its mode, and the permissions that the profile `act` would write for it. */
export function profileView(home: HomeContext): ProfileView {
  const devices = hostedDevicesOf(home)
    .all()
    .filter((device) => modeOf(device) !== "off")
    .map((device) => ({
      id: device.id,
      name: device.setting?.name ?? device.hosted.name,
      area: device.setting?.area ?? device.hosted.area ?? null,
      allow: device.hosted.allow,
      mode: presentMode(home, device),
      chosen: device.setting?.mode != null,
      ...sortedActions(home, device),
    }));
  return { devices: devices.filter(({ acts, asks }) => acts.length + asks.length > 0) };
}

/** Of one that is not switched off. */
function presentMode(home: HomeContext, device: HostedDevice): "allowed" | "ask" | "read" {
  return isWholeAllowed(home, device) ? "allowed" : (modeOf(device) as "read" | "ask");
}

/** Those that have the mode already keep it, with their permissions. */
export function applyProfile(
  home: HomeContext,
  { profile, devices }: ProfileBody,
  by: Person,
): "applied" | "changed" | "full" | "unknown" {
  const found: HostedDevice[] = [];
  for (const { id, allow } of devices) {
    const device = hostedDevicesOf(home).get(id);
    if (!device) return "unknown";
    // One that was switched off is not shown, so a person cannot have meant it.
    if (device.hosted.allow !== allow || modeOf(device) === "off") return "changed";
    if (!found.some((one) => one.id === id)) found.push(device);
  }
  const mode = MODE[profile];
  const isThere = (device: HostedDevice) => presentMode(home, device) === mode;
  const changed = found.filter((device) => !isThere(device));
  const needed = changed.reduce((sum, device) => sum + sortedActions(home, device).acts.length, 0);
  if (profile === "act" && !permissionsOf(home).hasRoomFor(needed)) return "full";
  // Nothing is awaited from here on, so nothing comes in between.
  for (const device of found) {
    // The mode of before any choice follows the bridge's settings, so the choice is kept.
    if (isThere(device) && device.setting?.mode != null) continue;
    changeDevice(home, device.id, { mode, allow: device.hosted.allow }, by, !isThere(device));
  }
  return "applied";
}
