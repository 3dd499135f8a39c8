/** `CHANNELS`: the connections to chat platforms, and the people who may use each. docs/using/chat-apps.md explains every field. */
import type { Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { check, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import { readOnce } from "./read-once.ts";
import { SettingsError } from "./settings-error.ts";
import { HOME_ID } from "./tokens.ts";

export const PLATFORM_NAMES = ["telegram", "slack", "discord", "whatsapp", "generic"] as const;
export type PlatformName = (typeof PLATFORM_NAMES)[number];
export const ROLES = ["owner", "member", "guest"] as const;
export type Role = (typeof ROLES)[number];

/** A connection's name is part of paths and of conversations' ids. */
export const CONNECTION_ID = /^[a-z0-9][a-z0-9-]{0,31}$/;

const role = z.enum(ROLES);
/** `secret` proves a request of the platform; `token` is what the gateway shows the platform. */
const secret = z.string().check(z.minLength(8), z.maxLength(1_000));
const address = z
  .string()
  .check(
    z.maxLength(500),
    z.refine(isWebAddress, "expected an https:// address (http:// on this machine only)"),
  );

const agentList = z.optional(z.array(z.string().check(z.maxLength(64))).check(z.maxLength(200)));

const common = {
  connection: z.string().check(z.regex(CONNECTION_ID, "expected a-z, 0-9 and -, at most 32")),
  home: z.string().check(z.regex(HOME_ID, "expected a home's id: a-z, 0-9 and -")),
  /** The platform's ids of senders. `*`: everybody whom the platform lets through. Empty: nobody. */
  allow: z._default(z.array(z.string().check(z.minLength(1), z.maxLength(64))).check(z.maxLength(1_000)), []),
  /** Roles by sender's id. A sender named here is allowed; an allowed sender who is not named is a member. */
  role_of: z._default(z.record(z.string(), role), {}),
  /** The agents that each role reaches. A role that is not named reaches all. */
  agents: z._default(z.strictObject({ owner: agentList, member: agentList, guest: agentList }), {}),
  /** Roles whose calls may only read. */
  reads_only: z._default(z.array(role), ["guest"]),
  /** Roles that may decide an approval. */
  approve: z._default(z.array(role), ["owner"]),
  /** `reads`: allowed senders may also ask in groups, and only actions that read are possible there. */
  groups: z._default(z.enum(["off", "reads"]), "off"),
};

const Telegram = z.strictObject({
  ...common,
  channel: z.literal("telegram"),
  token: z.string().check(z.regex(/^\d{1,20}:[A-Za-z0-9_-]{10,100}$/, "expected a bot token, 123456:ABC…")),
  secret: z.string().check(z.regex(/^[A-Za-z0-9_-]{16,256}$/, "expected 16 to 256 of A-Z a-z 0-9 _ -")),
  base_url: z._default(address, "https://api.telegram.org"),
});
const Slack = z.strictObject({
  ...common,
  channel: z.literal("slack"),
  token: secret,
  secret,
  base_url: z._default(address, "https://slack.com/api"),
});
const Discord = z.strictObject({
  ...common,
  channel: z.literal("discord"),
  token: secret,
  public_key: z
    .string()
    .check(z.regex(/^[0-9a-f]{64}$/, "expected the application's public key, 64 hex digits")),
  base_url: z._default(address, "https://discord.com/api/v10"),
});
const WhatsApp = z.strictObject({
  ...common,
  channel: z.literal("whatsapp"),
  token: secret,
  secret,
  verify_token: secret,
  phone_number_id: z.string().check(z.regex(/^\d{1,30}$/, "expected digits")),
  /** A template that Meta approved: what rules say comes by it when the person has written nothing for a day. */
  alert_template: z.optional(
    z.string().check(z.regex(/^[a-z0-9_]{1,512}$/, "expected a template's name: a-z, 0-9 and _")),
  ),
  alert_language: z._default(
    z
      .string()
      .check(z.regex(/^[a-z]{2,3}(_[A-Z]{2})?$/, "expected a template's language, as in en or en_US")),
    "en",
  ),
  base_url: z._default(address, "https://graph.facebook.com/v25.0"),
});
const Generic = z.strictObject({
  ...common,
  channel: z.literal("generic"),
  secret: z
    .string()
    .check(
      z.regex(
        /^[A-Za-z0-9._~+/=-]{16,256}$|^whsec_[A-Za-z0-9+/=]{24,256}$/,
        "expected a bearer token of at least 16 characters, or whsec_ and base64",
      ),
    ),
  callback_url: z.optional(address),
});

export type TelegramConnection = z.infer<typeof Telegram>;
export type SlackConnection = z.infer<typeof Slack>;
export type DiscordConnection = z.infer<typeof Discord>;
export type WhatsAppConnection = z.infer<typeof WhatsApp>;
export type GenericConnection = z.infer<typeof Generic>;
export type Connection =
  | TelegramConnection
  | SlackConnection
  | DiscordConnection
  | WhatsAppConnection
  | GenericConnection;

const OneConnection = z.discriminatedUnion("channel", [Telegram, Slack, Discord, WhatsApp, Generic]);
const Connections = z
  .array(OneConnection)
  .check(z.maxLength(100), z.refine(areUnique, "connection: two of a channel have the same name"));

/** An error in `CHANNELS`. Its message names the field and never quotes a value, which may be a secret. */
class ChatSettingsError extends SettingsError {}

/** @throws ChatSettingsError */
export const readConnections = readOnce((env: Variables): readonly Connection[] => {
  if (!env.CHANNELS) return [];
  const read = readJson(env.CHANNELS);
  if (!read.ok) throw new ChatSettingsError(`CHANNELS: ${read.error}`);
  return read.value;
});

/** Checks one connection and adds the defaults. */
export function readConnection(value: unknown): Parsed<Connection> {
  return check(OneConnection, value);
}

function readJson(text: string): Parsed<Connection[]> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    return { ok: false, error: "not JSON; expected a list of connections" };
  }
  return check(Connections, value);
}

/** Finds a connection of `CHANNELS`; features/chat/platforms/connections.ts also finds those of the console. @throws ChatSettingsError */
export function findConnection(env: Variables, channel: string, name: string): Connection | undefined {
  return readConnections(env).find((one) => one.channel === channel && one.connection === name);
}

/** @returns undefined: the settings do not name this person */
export function roleInSettings(
  { allow, role_of }: Pick<Connection, "allow" | "role_of">,
  sender: string,
): Role | undefined {
  if (Object.hasOwn(role_of, sender)) return role_of[sender];
  return allow.includes(sender) || allow.includes("*") ? "member" : undefined;
}

function areUnique(connections: readonly Connection[]): boolean {
  return (
    new Set(connections.map(({ channel, connection }) => `${channel}/${connection}`)).size ===
    connections.length
  );
}

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost"].includes(hostname));
}
