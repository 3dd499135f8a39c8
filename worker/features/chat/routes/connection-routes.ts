/** `/v1/connections`: lists, makes, checks and removes connections to chat apps. For administrators; no answer contains a secret. */

import { toBase64Url } from "@edgecall/core/encoding.ts";
import { type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type {
  ConnectionState,
  Connections,
  ConnectionView,
  MadeConnection,
} from "../../../kernel/api/answers.ts";
import type { StoredConnection } from "../../../kernel/api/senders.ts";
import { type App, newRoutes } from "../../../kernel/http/app.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { text } from "../../../kernel/http/fields.ts";
import { json, nothing, route } from "../../../kernel/http/route.ts";
import { originOf } from "../../../kernel/http/wait.ts";
import { logInfo } from "../../../kernel/log.ts";
import {
  CONNECTION_ID,
  type Connection,
  findConnection,
  PLATFORM_NAMES,
  readConnection,
  readConnections,
} from "../../../kernel/settings/chat.ts";
import type { ApiToken } from "../../../kernel/settings/tokens.ts";
import { chatAt } from "../chat-api.ts";
import { CONSOLE_PLATFORMS, connectionOf, webhookPath } from "../platforms/connections.ts";
import { PlatformError } from "../platforms/platform-request.ts";
import type { Account, Setup } from "../platforms/platform-setup.ts";
import { setupOf } from "../platforms/setup.ts";
import { pollingToken } from "../polling.ts";

/** A webhook's secret that the gateway makes has 256 bits. */
const SECRET_BYTES = 32;
const CHANNEL = new RegExp(`^(${PLATFORM_NAMES.join("|")})$`);
/** A placeholder until Discord has told its key. */
const NO_KEY = "0".repeat(64);

const pasted = z.string().check(z.trim(), z.minLength(8), z.maxLength(1_000));
const NewConnection = z.strictObject({
  channel: z.enum(CONSOLE_PLATFORMS),
  connection: z.string().check(z.regex(CONNECTION_ID, "expected a-z, 0-9 and -, at most 32")),
  token: pasted,
  /** Slack's signing secret. The gateway makes Telegram's, and Discord has none. */
  secret: z.optional(pasted),
  /** An address of the platform's API in place of the usual one. */
  base_url: z.optional(z.string().check(z.trim())),
});
type NewConnection = z.infer<typeof NewConnection>;

export const connections = newRoutes();

/** Lists the connections to chat apps. */
route(connections, "GET /v1/connections", { scope: "admin" }, async (c, { token: { home } }) => {
  const set = readConnections(c.env).filter((one) => one.home === home);
  const stored = await chatAt(c.env, home).connections();
  const isSet = (one: StoredConnection) =>
    set.some(({ channel, connection }) => channel === one.channel && connection === one.connection);
  return json<Connections>(c, {
    origin: originOf(c),
    connections: [
      ...set.map((one) => connectionView(c, one, undefined)),
      ...stored.filter((one) => !isSet(one)).map((one) => connectionView(c, { ...one, home }, one)),
    ],
  });
});

/** The people of a new connection may ask, and owners approve there. */
const SETTING_UP = { scope: "admin", confirm: true, body: NewConnection } as const;

/**
 * Checks the token, stores the connection, and makes the platform deliver here. 422 has the platform's words.
 */
route(connections, "POST /v1/connections", SETTING_UP, async (c, { token, body: asked }) => {
  const { channel, connection: name } = asked;
  if (findConnection(c.env, channel, name))
    throw new HttpError(409, "conflict", `connection: '${name}' stands in the setting CHANNELS already`);
  const home = chatAt(c.env, token.home);
  const before = (await home.connections()).some((one) => one.channel === channel && one.connection === name);
  const made = madeOf(asked, token.home);
  const setup = setupFor(channel);
  const account = await answered(setup.account(made));
  const connection = { ...made, ...account.fields } as Connection;
  if (!(await home.storeConnection(connection, token.name)))
    throw new HttpError(409, "conflict", "there are too many connections; disconnect one, or use CHANNELS");
  try {
    const todo = await answered(deliver(c, setup, connection, { isStored: true, isAsked: false }));
    logInfo("connection.made", { channel, connection: name });
    const view = connectionView(c, connection, { made_by: token.name });
    const answer: MadeConnection = { ...view, ...accountOf(account), todo };
    return json(c, answer, 201);
  } catch (error) {
    // A new connection without deliveries is removed again. An earlier one stays, since it may still work.
    if (!before) await home.removeConnection(channel, name);
    throw error;
  }
});

const NAMED = {
  scope: "admin",
  path: {
    channel: text(CHANNEL, `one of ${PLATFORM_NAMES.join(", ")}`),
    connection: text(CONNECTION_ID, "a connection's name"),
  },
} as const;

/** Asks the platform for the token's bot and the state of deliveries. */
route(connections, "GET /v1/connections/:channel/:connection", NAMED, async (c, { token, path }) => {
  const { connection, setup, isStored } = await named(c, token, path);
  const [account, deliveries] = await Promise.all([
    answered(setup.account(connection)),
    answered(setup.deliveries(connection)),
  ]);
  const address = addressOf(c, connection, isStored);
  const { webhook } = deliveries;
  const here = isPolled(c, setup) ? webhook === null : webhook === address;
  return json<ConnectionState>(c, {
    ...connectionView(c, connection, isStored ? {} : undefined),
    ...accountOf(account),
    deliveries: { ...deliveries, ...(webhook !== undefined && { here }) },
  });
});

/**
 * Makes the platform deliver here: for a connection of CHANNELS, or after the gateway's address has changed. Where Telegram's
 * messages are fetched, it ends the bot's webhook instead.
 */
route(connections, "POST /v1/connections/:channel/:connection/webhook", NAMED, async (c, { token, path }) => {
  const { connection, setup, isStored } = await named(c, token, path);
  const todo = await answered(deliver(c, setup, connection, { isStored, isAsked: true }));
  return json(c, { ...connectionView(c, connection, isStored ? {} : undefined), todo });
});

/** Disconnects from a chat app and forgets its secrets. */
route(connections, "DELETE /v1/connections/:channel/:connection", NAMED, async (c, { token, path }) => {
  const { home } = token;
  const { channel, connection: name } = path;
  if (findConnection(c.env, channel, name)?.home === home)
    throw new HttpError(409, "conflict", "this connection stands in the setting CHANNELS; take it out there");
  const stored = await chatAt(c.env, home).connection(channel, name);
  if (!stored) throw new HttpError(404, "not_found", "no such connection");
  const setup = setupOf(channel);
  // The connection is removed in any case, also when the platform no longer knows the token. A webhook of a bot that is
  // polled is somebody else's.
  if (stored.ok && setup && !isPolled(c, setup))
    await Promise.resolve(setup.uninstall?.(stored.value)).catch(() => undefined);
  await chatAt(c.env, home).removeConnection(channel, name);
  logInfo("connection.dropped", { channel, connection: name });
  return nothing(c);
});

/** Makes the platform deliver here, or lets its updates be fetched. @param isAsked the person pressed "Deliver here" */
function deliver(
  c: Context<App>,
  setup: Setup,
  connection: Connection,
  { isStored, isAsked }: { isStored: boolean; isAsked: boolean },
): Promise<Parsed<string[]>> {
  if (setup.poll && isPolled(c, setup)) return setup.poll(connection, isAsked);
  return setup.install(connection, addressOf(c, connection, isStored));
}

function isPolled(c: Context<App>, { poll }: Setup): boolean {
  return poll !== undefined && pollingToken(c.env) !== undefined;
}

/** @throws HttpError naming the field */
function madeOf({ channel, connection, token, secret, base_url }: NewConnection, home: string): Connection {
  if (channel === "slack" && secret === undefined)
    throw new HttpError(400, "invalid_body", "secret: expected the app's signing secret");
  const own = {
    telegram: { secret: toBase64Url(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))) },
    slack: { secret },
    discord: { public_key: NO_KEY },
  }[channel];
  const made = readConnection({ channel, connection, home, token, ...own, ...(base_url && { base_url }) });
  if (!made.ok) throw new HttpError(400, "invalid_body", made.error);
  return made.value;
}

async function named(
  c: Context<App>,
  { home }: ApiToken,
  { channel, connection: name }: { channel: string; connection: string },
): Promise<{ connection: Connection; setup: Setup; isStored: boolean }> {
  const connection = await connectionOf(c.env, home, channel, name);
  if (!connection) throw new HttpError(404, "not_found", "no such connection");
  const isStored = findConnection(c.env, channel, name)?.home !== home;
  return { connection, setup: setupFor(channel), isStored };
}

function setupFor(channel: string): Setup {
  const setup = setupOf(channel);
  if (!setup)
    throw new HttpError(
      400,
      "invalid_path",
      `channel: ${channel} is set up by hand, see docs/using/chat-apps.md`,
    );
  return setup;
}

/** Turns a platform's refusal or silence into an error for the person who connects. @throws HttpError 422, 502 */
async function answered<T>(
  asked: Promise<{ ok: true; value: T } | { ok: false; error: string }>,
): Promise<T> {
  try {
    const answer = await asked;
    if (answer.ok) return answer.value;
    throw new HttpError(422, "platform_refused", answer.error);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new HttpError(
      502,
      "platform_failed",
      `the platform could not be asked (${error.message}); try again in a moment`,
    );
  }
}

type Place = { channel: string; connection: string; home: string };

/** @param stored absent for a connection of CHANNELS */
function connectionView(
  c: Context<App>,
  place: Place,
  stored: Partial<StoredConnection> | undefined,
): ConnectionView {
  const { channel, connection } = place;
  return {
    channel,
    connection,
    kept_in: stored ? "console" : "CHANNELS",
    webhook: addressOf(c, place, stored !== undefined),
    checks: setupOf(channel) !== undefined,
    ...(stored?.made_by !== undefined && { made_by: stored.made_by }),
    ...(stored?.made_at !== undefined && { made_at: stored.made_at }),
  };
}

function accountOf({ name, link }: Account) {
  return { account: name, ...(link !== undefined && { link }) };
}

function addressOf(c: Context<App>, place: Place, isStored: boolean): string {
  return originOf(c) + webhookPath(place, isStored);
}
