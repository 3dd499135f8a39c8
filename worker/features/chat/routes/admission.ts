/**
 * Decides who may speak over a connection, and what they reach: all of it in this file, so that it can be reviewed alone.
 * Closed by default: the settings name a person, or an owner let them in with a code.
 */

import type { Limits } from "../../../kernel/api/turns.ts";
import type { Env } from "../../../kernel/env.ts";
import { type Connection, ROLES, type Role, roleInSettings } from "../../../kernel/settings/chat.ts";
import { chatAt } from "../chat-api.ts";
import type { Incoming } from "../platforms/chat-platform.ts";
import { notifyOwners, requestText } from "./access-request.ts";

export type Admitted =
  | {
      ok: true;
      principal: string;
      role: Role;
      /** In a group too. Whoever was told there may answer a rule by it, and nothing else. */
      ownRole: Role;
      limits: Limits;
      mayApprove: boolean;
      isOwner: boolean;
    }
  /** @property words for the sender, where others may read them too @property why where the sender alone reads it @property notice tells the owners, once */
  | { ok: false; words?: string; why: string; notice?: () => Promise<void> };

const NO_GROUPS = "I answer in private chats alone. Write to me directly.";
const STRANGER_IN_GROUP =
  "I do not know you, so I do not answer you here. Write to me in a private chat, where you get a code for an owner.";
const WAITS =
  "I do not know you yet. If you got a code, give it to an owner of this home; otherwise ask again in an hour.";

export async function admit(
  env: Env,
  connection: Connection,
  { sender, group }: Pick<Incoming, "sender" | "group">,
): Promise<Admitted> {
  if (group && connection.groups === "off") return { ok: false, why: NO_GROUPS };
  const { connection: name, channel, home } = connection;
  const known = roleInSettings(connection, sender.id);
  const stranger = { connection: name, channel, sender: sender.id, name: sender.name };
  // A group gets no code: all its members would ask for one.
  const entry = known ? { role: known } : await chatAt(env, home).admit(stranger, !group);
  if (!("role" in entry)) {
    if (!entry.knock) return { ok: false, why: group ? STRANGER_IN_GROUP : WAITS };
    const { code, name: senderName, notice } = entry.knock;
    const requests = requestText({ ...stranger, name: senderName }, notice?.isLast ?? false);
    const tell = notice && (() => notifyOwners(env, connection, `knock-${code}`, requests));
    const words = unknownSenderText(code);
    return { ok: false, words, why: words, ...(tell && { notice: tell }) };
  }
  // In a group others read along and write into the same conversation, so everybody there is a guest.
  const role = group ? "guest" : entry.role;
  const readsOnly = group || connection.reads_only.includes(role);
  const agents = connection.agents[role];
  return {
    ok: true,
    principal: `${channel}:${sender.id}`,
    role,
    ownRole: entry.role,
    limits: { ...(readsOnly && { readsOnly }), ...(agents && { agents }) },
    // An owner may press buttons in a group too, but the group itself is no owner.
    mayApprove: connection.approve.includes(entry.role),
    isOwner: entry.role === "owner" && !group,
  };
}

function unknownSenderText(code: string): string {
  return `I do not know you yet. Your code is ${code}: give it to an owner of this home, who lets you in with "/approve ${code}". It holds for an hour.`;
}

/**
 * An owner's `/approve CODE` or `/approve CODE guest`.
 * @param argument what stands after `/approve` @param by the owner's principal
 * @returns words for the owner
 */
export async function approveUnknownSender(
  env: Env,
  { home }: Connection,
  argument: string,
  by: string,
): Promise<string> {
  const [code = "", word = "member"] = argument.split(/\s+/);
  const role = ROLES.find((one) => one === word.toLowerCase());
  if (!/^[A-Za-z0-9]{6}$/.test(code) || !role)
    return "Expected /approve and the code of six characters; then, if you like, guest, member or owner.";
  const sender = await chatAt(env, home).approveSender(code, role, by);
  if (!sender)
    return `There is no code ${code.toUpperCase()}: it may have expired. Whoever has it gets a new one by writing again.`;
  return `${sender.name || sender.sender} (${sender.channel}) may speak now, as ${role === "owner" ? "an" : "a"} ${role}.`;
}
