/**
 * Who may speak over a connection, and what is in reach then. This file decides all of it, so that it can be
 * reviewed alone. Closed by default: allowed is who stands in the settings, or whom an owner let in by a code.
 */

import { homeOf } from "../../api/stubs.ts";
import type { Limits } from "../../api/turns.ts";
import type { Incoming } from "../../channels/channel.ts";
import type { Env } from "../../env.ts";
import type { Connection, Role } from "../../settings/channels.ts";
import { knockWords, tellOwners } from "./knock.ts";

export type Admitted =
  | { ok: true; principal: string; role: Role; limits: Limits; mayApprove: boolean; isOwner: boolean }
  /** @property words for the sender; absent: not even that. @property notice: what the owners are to hear, once */
  | { ok: false; words?: string; notice?: () => Promise<void> };

export async function admit(
  env: Env,
  connection: Connection,
  { sender, group }: Pick<Incoming, "sender" | "group">,
): Promise<Admitted> {
  if (group && connection.groups === "off") return { ok: false };
  const { connection: name, channel, home } = connection;
  const known = roleInSettings(connection, sender.id);
  const stranger = { connection: name, channel, sender: sender.id, name: sender.name };
  // A group is told nothing: its members would all ask for a code.
  const entry = known ? { role: known } : await homeOf(env, home).admit(stranger, !group);
  if (!("role" in entry)) {
    if (!entry.knock) return { ok: false };
    const { code, name: shown, notice } = entry.knock;
    const told = { ...stranger, name: shown };
    const tell =
      notice && (() => tellOwners(env, connection, `knock-${code}`, knockWords(told, notice.isLast)));
    return { ok: false, words: strangerWords(code), ...(tell && { notice: tell }) };
  }
  // Others read along, and write into the same conversation: whoever it is, the group is a guest.
  const role = group ? "guest" : entry.role;
  const readsOnly = group || connection.reads_only.includes(role);
  const agents = connection.agents[role];
  return {
    ok: true,
    principal: `${channel}:${sender.id}`,
    role,
    limits: { ...(readsOnly && { readsOnly }), ...(agents && { agents }) },
    // An owner stays one where others see the buttons; the group itself is none.
    mayApprove: connection.approve.includes(entry.role),
    isOwner: entry.role === "owner" && !group,
  };
}

function roleInSettings({ allow, role_of }: Connection, sender: string): Role | undefined {
  if (Object.hasOwn(role_of, sender)) return role_of[sender];
  return allow.includes(sender) || allow.includes("*") ? "member" : undefined;
}

function strangerWords(code: string): string {
  return `I do not know you yet. Your code is ${code}: give it to an owner of this home, who lets you in with "/approve ${code}". It holds for an hour.`;
}
