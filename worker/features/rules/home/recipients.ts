/**
 * Whom a rule tells: its maker, the owners, or one named conversation. That is looked at when the rule is made, with an error that
 * lists what is possible, and again each time that it speaks. Never "wherever somebody wrote last".
 */

import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import type { WatchRule } from "@edgecall/core/rules/watch-rule.ts";
import { MINUTE_MS } from "@edgecall/core/time/zone.ts";
import type { Handed } from "../../../kernel/api/notices.ts";
import { conversationOf } from "../../../kernel/api/stubs.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import {
  connectionsOf,
  isThis,
  nameOf,
  OWNERS,
  ownersOf,
  ownSubscriptions,
  privateChatOf,
  recipientText,
} from "../../../kernel/home/notices/reach.ts";
import { conversationListOf } from "../../../kernel/home/people/conversation-list.ts";
import { roleInChat, roleNow } from "../../../kernel/home/people/roles.ts";
import { PLATFORM_NAMES } from "../../../kernel/settings/chat.ts";
import { SettingsError } from "../../../kernel/settings/settings-error.ts";
import type { Maker, RuleRow } from "./rule-store.ts";

const HERE = "here";
/** Conversations that are asked whether something may be said there, and that an error names. */
const ASKED_MAX = 10;

/** @property why nobody is told as the rule says, in words: then its maker is */
type Recipients = { recipients: string[]; why?: string };
type NotifyingRule = Pick<RuleRow, "maker" | "to">;

/** Conversations and outlets that a rule tells now. @param to another recipient than the rule's own */
export function recipientsOf(home: HomeContext, { maker, to: own }: NotifyingRule, to = own): Recipients {
  const recipients =
    to === null
      ? makersOwn(home, maker)
      : to === OWNERS
        ? ownersOf(home)
        : mayUse(home, maker, to)
          ? [to]
          : [];
  if (recipients.length > 0) return { recipients };
  if (to === null) {
    const why =
      maker.conversation === null
        ? "your browsers and topics: no notifications are turned on any more"
        : "you here: this conversation is somebody else's now";
    return { recipients, why };
  }
  const why = to === OWNERS ? "no owner can be told" : "whoever made it cannot use it any more";
  return { recipients: makersOwn(home, maker), why: `${recipientText(to)}: ${why}` };
}

/** @returns the conversation of the rule and its maker's browsers and topics; none for a maker without access */
export function makersOwn(home: HomeContext, maker: Maker): string[] {
  if (roleNow(home, maker) === undefined) return [];
  const own = ownSubscriptions(home, maker.principal);
  const conversation = ownConversation(home, maker);
  return conversation === null ? own : [conversation, ...own];
}

/** The conversation of the rule. @returns null: there is none, or it is not shared with its maker any more, or another has its name */
export function ownConversation(home: HomeContext, maker: Maker): string | null {
  const { conversation } = maker;
  if (conversation?.split("/")[1] !== "api") return conversation;
  const isListed = conversationListOf(home).principalOf(conversation) !== undefined;
  return !isListed || mayUse(home, maker, conversation) ? conversation : null;
}

/** Who is told in place of a recipient that takes nothing, in this order. Of several owners the others were told. */
export function nextRecipients(
  home: HomeContext,
  { maker, to }: NotifyingRule,
  told: readonly string[],
): string[] {
  if (to === OWNERS && told.length > 1) return [];
  const own = makersOwn(home, maker);
  const chats = own.filter((one) => one === maker.conversation);
  const next = [...chats, makersPrivateChat(home, maker) ?? [], ...own].flat();
  return [...new Set(next)].filter((one) => !told.includes(one));
}

function makersPrivateChat(home: HomeContext, { channel, principal, reply }: Maker): string | null {
  const connection = reply && connectionsOf(home).find((one) => isThis(one, channel, reply.connection));
  return connection ? (privateChatOf(home, connection, principal.slice(channel.length + 1)) ?? null) : null;
}

/**
 * Finds whom a person means, and asks whether they can be told unasked.
 * @param to absent: the maker
 * @returns as the row has it; the error lists what is possible
 */
export async function findRecipient(
  home: HomeContext,
  maker: Maker,
  to: string | undefined,
  field = "to",
): Promise<Parsed<string | null>> {
  const isOwn = to === undefined || to === HERE || maker.conversation === `${home.name}/${pathOf(to)}`;
  if (isOwn && makersOwn(home, maker).length > 0) return { ok: true, value: null };
  const wrong = async (why: string): Promise<Parsed<null>> => ({
    ok: false,
    error: `${field}: ${why}; possible: ${await possible(home, maker)}`,
  });
  if (isOwn) return await wrong("this client has no conversation, and you have no notifications turned on");
  if (to === OWNERS)
    return (await canNotifyOwners(home))
      ? { ok: true, value: OWNERS }
      : await wrong("no owner can be told unasked");
  const named = usable(home, maker).filter((name) => isNamed(name, pathOf(to)));
  const exact = named.filter((name) => name === `${home.name}/${pathOf(to)}`);
  const asked = await askEach(home, maker, exact.length > 0 ? exact : named);
  const able = asked.flatMap(({ name, handed }) => (handed.accepted ? [name] : []));
  const [only] = able;
  if (only !== undefined && able.length === 1) return { ok: true, value: only };
  if (able.length > 1) return await wrong(`'${to}' may be ${able.map(nameOf).join(" or ")}`);
  const [refused] = asked;
  return await wrong(
    refused?.handed.accepted === false
      ? `${nameOf(refused.name)} cannot be told: ${refused.handed.why}`
      : `there is no '${to.slice(0, 100)}' that you use`,
  );
}

const THEN_MINUTES = 15;

/** @param to absent: there is no second recipient */
export async function secondOf(
  home: HomeContext,
  maker: Maker,
  to: string | undefined,
  minutes = THEN_MINUTES,
): Promise<Parsed<WatchRule["then_to"]>> {
  if (to === undefined) return { ok: true, value: undefined };
  const found = await findRecipient(home, maker, to, "then_to");
  if (!found.ok) return found;
  if (found.value === null) return { ok: false, error: "then_to: expected somebody else than is told first" };
  return { ok: true, value: { to: found.value, after_ms: Math.round(minutes * MINUTE_MS) } };
}

async function possible(home: HomeContext, maker: Maker): Promise<string> {
  const others = usable(home, maker).filter((name) => name !== maker.conversation);
  const asked = await askEach(home, maker, others);
  const names = asked.flatMap(({ name, handed }) => (handed.accepted ? [nameOf(name)] : []));
  const owners = (await canNotifyOwners(home)) ? [OWNERS] : [];
  const own = makersOwn(home, maker).length > 0 ? ["leave it out for this conversation"] : [];
  return [...owners, ...names, ...own].join(", ") || "nobody yet. Notifications are turned on in the console";
}

/** `telegram:family:7` → `telegram/family:7` */
function pathOf(to: string): string {
  return to.replace(":", "/");
}

/** The whole name, or that of its connection. */
function isNamed(conversation: string, path: string): boolean {
  const own = conversation.slice(conversation.indexOf("/") + 1);
  return own === path || own.startsWith(`${path}:`);
}

type Asked = { name: string; handed: Handed };

/** Owners may use each of the home's; others those where they wrote, which only a conversation knows. */
async function askEach(home: HomeContext, maker: Maker, names: readonly string[]): Promise<Asked[]> {
  const isOwner = roleNow(home, maker) === "owner";
  const asked = names.slice(0, ASKED_MAX).map(async (name) => {
    const by = isOwner || name.split("/")[1] === "api" ? null : maker.principal;
    const handed = await conversationOf(home.env, name).canTell(by);
    return handed ? [{ name, handed }] : [];
  });
  return (await Promise.all(asked)).flat();
}

function usable(home: HomeContext, maker: Maker): string[] {
  return conversationListOf(home)
    .names()
    .filter((name) => mayUse(home, maker, name));
}

/** As far as Home knows. A conversation that is forgotten is nobody's. */
function mayUse(home: HomeContext, maker: Maker, name: string): boolean {
  const [, channel = "", id = ""] = name.split("/");
  const isOwner = roleNow(home, maker) === "owner";
  if (channel === "api") {
    const by = conversationListOf(home).principalOf(name);
    return by !== undefined && (isOwner || by === maker.principal || isReader(home, maker, name));
  }
  if (!(PLATFORM_NAMES as readonly string[]).includes(channel) || !conversationListOf(home).has(name))
    return false;
  return isOwner || (maker.channel === channel && isAdmitted(home, maker, id.split(":")[0] ?? ""));
}

function isReader(home: HomeContext, { principal }: Maker, name: string): boolean {
  return conversationListOf(home).sharedWith(name).includes(principal);
}

function isAdmitted(home: HomeContext, maker: Maker, connection: string): boolean {
  try {
    return roleInChat(home, maker, connection) !== undefined;
  } catch (error) {
    // A typing mistake in the settings takes nobody's access away.
    if (error instanceof SettingsError) return true;
    throw error;
  }
}

async function canNotifyOwners(home: HomeContext): Promise<boolean> {
  const owners = ownersOf(home);
  const chats = owners.filter((name) => name.includes("/"));
  if (chats.length < owners.length) return true;
  const asked = await Promise.all(chats.map((name) => conversationOf(home.env, name).canTell(null)));
  return asked.some((handed) => handed?.accepted);
}
