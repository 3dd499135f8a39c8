/** What the rest of the Worker asks a home about standing permissions. */
import { seesAll, type Viewer } from "../../api/may-see.ts";
import type { PermissionView } from "../../api/permissions.ts";
import type { PermissionsApi, PermissionsOf } from "../../api/permissions-api.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import type { HomeContext } from "../context.ts";
import type { HomePart } from "../part.ts";
import { endAllOver, endPermission } from "../permissions/ends.ts";
import { type PermissionRow, permissionsOf } from "../permissions/permission-store.ts";

export const permissionsRpc: HomePart<PermissionsApi> = {
  async list({ home }, viewer, { ended, ...of }) {
    const open = await endAllOver(home, Date.now());
    const rows = ended ? [...open, ...permissionsOf(home).ended()] : open;
    return rows
      .filter((row) => maySee(viewer, row) && isOf(home, row, of))
      .sort((a, b) => b.permission.at - a.permission.at)
      .map((row) => viewOf(home, row));
  },
  async end({ home }, viewer, id) {
    const row = permissionsOf(home).get(id);
    return row && maySee(viewer, row) ? endBy(home, viewer, row) : undefined;
  },
  async endAll({ home }, viewer, of) {
    return permissionsOf(home)
      .open()
      .filter((row) => maySee(viewer, row) && isOf(home, row, of))
      .flatMap((row) => endBy(home, viewer, row) ?? []);
  },
};

/** Owners and administrators see all; others what they gave, and what is for them. */
function maySee(viewer: Viewer, { permission: { who, by } }: PermissionRow): boolean {
  if (seesAll(viewer) || by === viewer.name) return true;
  return typeof who === "object" && "person" in who && who.person === viewer.name;
}

function isOf(home: HomeContext, { permission }: PermissionRow, { person, device }: PermissionsOf): boolean {
  const { who, by, key } = permission;
  const isOfPerson =
    person === undefined ||
    by === person ||
    (typeof who === "object" && "person" in who && who.person === person);
  if (!isOfPerson || device === undefined) return isOfPerson;
  return permission.device === device || hostedDevicesOf(home).get(device)?.hosted.key === key;
}

function endBy(home: HomeContext, { name, role }: Viewer, row: PermissionRow): PermissionView | undefined {
  const by = { principal: name, role, channel: "api" };
  const ended = endPermission(home, row.permission.id, "ended", by);
  return ended && viewOf(home, ended);
}

function viewOf(
  home: HomeContext,
  { permission, since, uses, usedAt, ended }: PermissionRow,
): PermissionView {
  const { key, version: _, ...shown } = permission;
  const hosted = hostedDevicesOf(home)
    .all()
    .find((device) => device.hosted.key === key);
  const id = hosted?.id ?? permission.device;
  const name = hosted?.setting?.name ?? hosted?.hosted.name ?? id;
  return { ...shown, device: id, name, since, uses, used_at: usedAt, ended };
}
