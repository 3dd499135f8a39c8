/** `/webhooks/{channel}/{connection}`: verified before any object is woken, stored before it is acknowledged. */
import type { Context } from "hono";
import type { Env } from "../../../kernel/env.ts";
import { type App, newRoutes } from "../../../kernel/http/app.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { countAddress, countGuess, maySpeak, tooManyRequests } from "../../../kernel/http/rate-limits.ts";
import { readBytes } from "../../../kernel/http/request.ts";
import { logError } from "../../../kernel/log.ts";
import type { Connection } from "../../../kernel/settings/chat.ts";
import { platformOf } from "../platforms/all.ts";
import type { Ack, ChatPlatform, Incoming } from "../platforms/chat-platform.ts";
import { notifyOwners } from "./access-request.ts";
import { answerInResponse } from "./answer-in-response.ts";
import { connectionAt } from "./connection-at.ts";
import { isAnsweredInResponse } from "./delivery.ts";
import { acceptIncoming } from "./incoming.ts";

/** Platforms send less: pictures come as references. */
const BODY_MAX_BYTES = 512 * 1024;
/** Programs send pictures in the body. */
const GENERIC_BODY_MAX_BYTES = 3 * 1024 * 1024;
const TOO_FAST = "That was too much at once, and I did not take it. Say it again in a minute.";

export const channels = newRoutes();

// A platform that delivers by PUT needs it here.
channels.on(["GET", "POST"], "/webhooks/:channel/:connection", async (c) => {
  await countAddress(c);
  const { channel, connection } = await addressed(c);
  const isGeneric = connection.channel === "generic";
  const body = await readBytes(c, isGeneric ? GENERIC_BODY_MAX_BYTES : BODY_MAX_BYTES);
  const request = { method: c.req.method, url: new URL(c.req.url), headers: c.req.raw.headers, body };
  // Only WhatsApp asks with GET: its challenge is in the query.
  if (c.req.method === "GET" && connection.channel !== "whatsapp")
    throw new HttpError(405, "method_not_allowed", "expected POST");
  const received = await channel.read(request, connection, Date.now());
  if (received.as === "refused" && received.status !== 400) await countGuess(c);
  if (received.as === "refused")
    throw new HttpError(
      received.status,
      received.status === 400 ? "invalid_body" : "unauthorized",
      received.message,
    );
  const { notice } = received;
  if (notice !== undefined)
    afterwards(c, "notice.untold", () => notifyOwners(c.env, connection, noticeId(connection), notice));
  if (received.as === "handled") return received.response;
  const acks: Ack[] = [];
  for (const event of received.events) {
    if (!(await isSlowEnough(c.env, connection, event))) {
      if (isGeneric) throw tooManyRequests(c, "messages of this sender");
      // After a 429 Telegram would hold back everybody's messages, and Slack would disable the connection.
      acks.push(received.ack(TOO_FAST, event));
      continue;
    }
    const accepted = await acceptIncoming(c.env, channel, connection, event);
    // A platform's own ids name one message. After an update they may be made in another way.
    if (accepted.differs && isGeneric)
      throw new HttpError(
        422,
        "id_reused",
        "id: another message had it; expected a new id for a new message",
      );
    if (accepted.notice) afterwards(c, "knock.untold", accepted.notice);
    const answer =
      isAnsweredInResponse(connection) && (await answerInResponse(c, connection, event, accepted));
    if (answer) return answer;
    acks.push(received.ack(accepted.refused, event));
  }
  // WhatsApp brings several events at once, and each has its own words; the others bring one.
  for (const { later } of acks) if (later) afterwards(c, "whisper.failed", later);
  return acks[0]?.response ?? new Response(null, { status: 200 });
});

/** The same for an hour: the conversation stores an id once, so the owners get one notice an hour. */
function noticeId({ connection }: Connection): string {
  return `notice-${connection}-${Math.floor(Date.now() / 3_600_000)}`;
}

/** Counted by person, before Home is woken: only Home could say that the person is a stranger. */
async function isSlowEnough(env: Env, connection: Connection, { sender }: Incoming): Promise<boolean> {
  const { home, channel, connection: name } = connection;
  return await maySpeak(env, `${home}/${channel}/${name}/${sender.id}`);
}

function afterwards(c: Context<App>, failure: string, work: () => Promise<void>): void {
  c.executionCtx.waitUntil(work().catch((error: unknown) => logError(failure, error)));
}

/** @throws HttpError 404, the same whatever is missing: so a guess learns nothing */
async function addressed(c: Context<App>): Promise<{ channel: ChatPlatform; connection: Connection }> {
  const name = c.req.param("connection") ?? "";
  const channelName = c.req.param("channel") ?? "";
  const channel = platformOf(channelName);
  const connection = channel && (await connectionAt(c.env, channelName, name, c.req.raw.headers));
  if (!channel || !connection) {
    await countGuess(c);
    throw new HttpError(404, "not_found", "no such connection");
  }
  return { channel, connection };
}
