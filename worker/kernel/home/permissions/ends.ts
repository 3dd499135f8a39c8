/** Each way in which a permission ends but by a person's press. It is looked at before each use, and where permissions are listed. */
import { overBy, type StandingPermission } from "@edgecall/core/permissions/permission.ts";
import type { AuditLine } from "@edgecall/core/protocol/audit.ts";
import type { EndReason } from "../../api/permissions.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { type HostedDevice, hostedDevicesOf } from "../agents/hosted-devices.ts";
import { auditDecision } from "../audit/decisions.ts";
import type { HomeContext } from "../context.ts";
import { modeOf } from "../devices/device-mode.ts";
import { isAllowed } from "../devices/device-settings.ts";
import { emit, featuresOf } from "../feature.ts";
import { rightsOf } from "../notices/rights.ts";
import { boundDevice, prepareVersion } from "./bound-device.ts";
import { type PermissionRow, permissionsOf } from "./permission-store.ts";

const GATEWAY = { principal: "gateway", role: "member", channel: "gateway" } as const;

/** Ends the permissions that are over by now. @param key of a device; absent: of all @returns those that hold */
export function endWhatIsOver(home: HomeContext, now: number, key?: string): PermissionRow[] {
  return permissionsOf(home)
    .open(key)
    .filter((row) => {
      const why = whyOver(home, row, now);
      if (why !== undefined) endPermission(home, row.permission.id, why);
      return why === undefined;
    });
}

/** The same of all, with the versions of paired agents' actions, which take time to compute. */
export async function endAllOver(home: HomeContext, now: number): Promise<PermissionRow[]> {
  for (const { permission } of permissionsOf(home).open())
    for (const action of Object.keys(permission.actions))
      await prepareVersion(home, permission.device, action);
  return endWhatIsOver(home, now);
}

/** "It wasn't me": ends what was given in this person's name since then, epoch ms. @returns their number */
export function endGivenSince(
  home: HomeContext,
  person: string,
  since: number,
  caller: AuditLine["caller"],
): number {
  return permissionsOf(home)
    .open()
    .filter(({ permission: { by, at } }) => by === person && at >= since)
    .filter(({ permission: { id } }) => endPermission(home, id, "not_me", caller)).length;
}

/** @param by the person; absent: the gateway @returns undefined: it had ended */
export function endPermission(
  home: HomeContext,
  id: string,
  why: EndReason,
  by?: AuditLine["caller"],
): PermissionRow | undefined {
  const ended = permissionsOf(home).end(id, { at: Date.now(), why, by: by?.principal ?? null });
  if (ended) {
    const { device, actions, who } = ended.permission;
    auditDecision(home, "permission_end", by ?? GATEWAY, {
      id,
      device,
      actions: Object.keys(actions),
      who,
      why,
    });
    void emit("permissionEnded", home, ended.permission, why);
  }
  return ended;
}

function whyOver(home: HomeContext, row: PermissionRow, now: number): EndReason | undefined {
  const { permission, usedAt } = row;
  return (
    overBy(permission, usedAt, now) ??
    whyDeviceEnds(home, permission) ??
    whyGiverEnds(home, row) ??
    whyAskerEnds(home, permission)
  );
}

function whyDeviceEnds(home: HomeContext, permission: StandingPermission): EndReason | undefined {
  const hosted = hostedOf(home, permission);
  if (hosted) {
    if (modeOf(hosted) !== "ask") return "mode";
    return isAllowed(permission.version, hosted.hosted) ? undefined : "changed";
  }
  const key = keysOf(home).publicKeyOf(permission.device);
  // A hosted device that is away has no row of its own.
  if (keysOf(home).standing(permission.device) === "none") return undefined;
  if (key !== permission.key) return "paired_again";
  const isOther = Object.keys(permission.actions).some((action) => {
    const bound = boundDevice(home, permission.device, action);
    return bound?.version !== undefined && bound.version !== permission.version;
  });
  return isOther ? "changed" : undefined;
}

/** The hosted device of this key, whatever its id is now. */
function hostedOf(
  home: HomeContext,
  { key, device }: Pick<StandingPermission, "key" | "device">,
): HostedDevice | undefined {
  const same = hostedDevicesOf(home).get(device);
  if (same?.hosted.key === key) return same;
  return hostedDevicesOf(home)
    .all()
    .find(({ hosted }) => hosted.key === key);
}

/** Others' calls are allowed by owners. What an upgrade wrote out was allowed by a person who might approve. */
function whyGiverEnds(home: HomeContext, { permission, since }: PermissionRow): EndReason | undefined {
  const rights = rightsOf(home, permission.by);
  // A typing mistake in the settings takes nothing away.
  if (!rights) return undefined;
  const { who, by } = permission;
  const isOwn = since !== null || (typeof who === "object" && "person" in who && who.person === by);
  return rights.approves && (isOwn || rights.role === "owner") ? undefined : "giver";
}

function whyAskerEnds(home: HomeContext, { who }: StandingPermission): EndReason | undefined {
  if (who === "everybody") return undefined;
  if ("person" in who) {
    const rights = rightsOf(home, who.person);
    return rights && rights.role === undefined ? "left" : undefined;
  }
  const isThere = featuresOf(home).some(({ hasAsker }) => hasAsker?.(home, who) === true);
  if (isThere) return undefined;
  return "program" in who ? "disconnected" : "home" in who ? "returned" : "rule";
}
