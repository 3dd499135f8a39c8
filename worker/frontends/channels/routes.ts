/** `/webhooks/{channel}/{connection}`: verified before any object is woken, kept before it is acknowledged. */

import { STRANGER } from "@edgecall/core/loop/taint.ts";
import type { Context } from "hono";
import type { Delivery, PictureRef } from "../../api/chat.ts";
import { mayAnswer } from "../../api/may-see.ts";
import { conversationOf, homeOf } from "../../api/stubs.ts";
import { channelOf } from "../../channels/all.ts";
import type { Ack, Channel, Incoming } from "../../channels/channel.ts";
import { mistypedCommand, readCommand } from "../../conversation/chat/commands.ts";
import {
  answerOf,
  answersOf,
  isTooLong,
  questionWords,
  TOO_LONG,
} from "../../conversation/chat/question-words.ts";
import { strangersWords } from "../../conversation/strangers-words.ts";
import type { Env } from "../../env.ts";
import { type App, newRoutes } from "../../http/app.ts";
import { readBytes } from "../../http/body.ts";
import { HttpError } from "../../http/errors.ts";
import { mediaLink } from "../../http/media-links.ts";
import { countAddress, countGuess, maySpeak, tooManyRequests } from "../../http/rate-limits.ts";
import { JSON_PATIENCE_MS, turnResult } from "../../http/turn-stream.ts";
import { logError, logInfo } from "../../log.ts";
import { type Connection, ROLES, type Role } from "../../settings/channels.ts";
import { readTranscription } from "../../settings/transcription.ts";
import { type Admitted, admit } from "./admission.ts";
import { connectionAt } from "./connection-at.ts";
import { tellOwners } from "./knock.ts";

/** Platforms send less; pictures come as references. */
const BODY_MAX_BYTES = 512 * 1024;
/** Here they come in the body. */
const GENERIC_BODY_MAX_BYTES = 3 * 1024 * 1024;
const TEXT_MAX_CHARS = 32_000;

export const channels = newRoutes();

channels.on(["GET", "POST"], "/webhooks/:channel/:connection", async (c) => {
  await countAddress(c);
  const { channel, connection } = await addressed(c);
  const isGeneric = connection.channel === "generic";
  const body = await readBytes(c, isGeneric ? GENERIC_BODY_MAX_BYTES : BODY_MAX_BYTES);
  const request = { method: c.req.method, url: new URL(c.req.url), headers: c.req.raw.headers, body };
  // Only WhatsApp asks with GET, and says so in its query.
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
    afterwards(c, "notice.untold", () => tellOwners(c.env, connection, noticeId(connection), notice));
  if (received.as === "handled") return received.response;
  if (isGeneric && connection.callback_url === undefined)
    return await answerHere(c, connection, received.events, received.ack);
  const acks: Ack[] = [];
  for (const event of received.events) {
    if (!(await isSlowEnough(c.env, connection, event))) {
      if (connection.channel === "generic") throw tooManyRequests(c, "messages of this sender");
      // A 429 would make Telegram hold back everybody's messages, and Slack switch us off.
      acks.push(received.ack(TOO_FAST, event));
      continue;
    }
    const { refused, notice } = await take(c.env, channel, connection, event);
    if (notice) afterwards(c, "knock.untold", notice);
    acks.push(received.ack(refused, event));
  }
  return finish(c, acks);
});

/** One in an hour, whatever goes wrong: the chat knows what it was told by this. */
function noticeId({ connection }: Connection): string {
  return `notice-${connection}-${Math.floor(Date.now() / 3_600_000)}`;
}

const TOO_FAST = "That was too much at once, and I did not take it. Say it again in a minute.";

/** Counted by the person who speaks; whoever is known to be a stranger is only found out by waking Home. */
async function isSlowEnough(env: Env, connection: Connection, { sender }: Incoming): Promise<boolean> {
  const { home, channel, connection: name } = connection;
  return await maySpeak(env, `${home}/${channel}/${name}/${sender.id}`);
}

/** WhatsApp brings several events at once, and each of them has its own words; the others bring one. */
function finish(c: Context<App>, acks: readonly Ack[]): Response {
  for (const { later } of acks) if (later) afterwards(c, "whisper.failed", later);
  return acks[0]?.response ?? new Response(null, { status: 200 });
}

function afterwards(c: Context<App>, failure: string, work: () => Promise<void>): void {
  c.executionCtx.waitUntil(work().catch((error: unknown) => logError(failure, error)));
}

/** The same words for all that is not there: a name tells nothing. */
async function addressed(c: Context<App>): Promise<{ channel: Channel; connection: Connection }> {
  const name = c.req.param("connection") ?? "";
  const channelName = c.req.param("channel") ?? "";
  const channel = channelOf(channelName);
  const connection = channel && (await connectionAt(c.env, channelName, name, c.req.raw.headers));
  if (!channel || !connection) {
    await countGuess(c);
    throw new HttpError(404, "not_found", "no such connection");
  }
  return { channel, connection };
}

/** @property refused words for the sender alone; @property words an answer at once, where there is no chat for it */
type Taken = { refused?: string; turn?: string; words?: string; notice?: () => Promise<void> };

async function take(env: Env, channel: Channel, connection: Connection, event: Incoming): Promise<Taken> {
  // As /v1 has it; an id of a platform is far shorter.
  if (!/^[A-Za-z0-9._:@-]{1,128}$/.test(event.conversation))
    throw new HttpError(400, "invalid_body", "conversation: longer than 128 characters");
  const admitted = await admit(env, connection, event);
  if (!admitted.ok) {
    logInfo("webhook.stranger", { channel: connection.channel, connection: connection.connection });
    const { words, notice } = admitted;
    return { ...(words !== undefined && { refused: words }), ...(notice && { notice }) };
  }
  const name = `${connection.home}/${connection.channel}/${event.conversation}`;
  if (event.act.do === "press") return await press(env, name, admitted, event.act);
  const delivery = await deliveryOf(env, channel, connection, event, admitted);
  return await conversationOf(env, name).receive(delivery);
}

async function deliveryOf(
  env: Env,
  channel: Channel,
  connection: Connection,
  event: Incoming,
  admitted: Admitted & { ok: true },
): Promise<Delivery> {
  const { principal, role, limits, isOwner } = admitted;
  const inResponse = connection.channel === "generic" && connection.callback_url === undefined;
  const origin = {
    principal,
    role,
    channel: connection.channel,
    limits,
    ...(limits.readsOnly && { brought: { instructions: READS_ONLY } }),
    ...(!inResponse && { reply: event.address }),
  };
  const id = event.delivery;
  const said = event.act.do === "say" ? event.act.text.slice(0, TEXT_MAX_CHARS) : "/stop";
  const others = event.act.do === "say" ? (event.act.forwarded ?? "").slice(0, TEXT_MAX_CHARS) : "";
  const isForwarded = others.trim() !== "";
  const text = isForwarded ? `${said}\n\n${strangersWords("forwarded", others)}`.trimStart() : said;
  const command = readCommand(said);
  if (command?.name === "approve" && isOwner)
    return {
      id,
      origin,
      act: { do: "tell", text: await approve(env, connection, command.argument, principal) },
    };
  if (command) return { id, origin, act: { do: "command", command } };
  const meant = mistypedCommand(said);
  if (meant) return { id, origin, act: { do: "tell", text: meant } };
  const { pictures, unread } = event.act.do === "say" ? readable(env, event.act) : { pictures: [] };
  if (unread !== undefined && text.trim() === "" && pictures.length === 0)
    return { id, origin, act: { do: "tell", text: unread.words } };
  const along = unread === undefined ? "" : `\n\n[With it came ${unread.what}, which cannot be read here.]`;
  const act = { do: "say" as const, text: `${text}${along}`, pictures, merge: channel.merges };
  return { id, origin, act: { ...act, ...(isForwarded && { sources: [STRANGER] }) } };
}

const VOICE = "a voice message";

/** The readable part of a message; of a voice message its text, where there is a model for it. */
function readable(
  env: Env,
  { pictures, unread }: Incoming["act"] & { do: "say" },
): { pictures: PictureRef[]; unread?: { what: string; words: string } } {
  const transcription = readTranscription(env);
  const hears = transcription.ok && transcription.value !== undefined;
  const read = hears ? pictures : pictures.filter(({ voice }) => !voice);
  const what = unread ?? (read.length < pictures.length ? VOICE : undefined);
  if (what === undefined) return { pictures: read };
  const words =
    what === VOICE
      ? "I cannot listen to voice messages here. Please write what you want to know."
      : `I cannot read ${what}. Please write what you want to know; pictures${hears ? " and voice messages" : ""} are fine, too.`;
  return { pictures: read, unread: { what, words } };
}

/** Below the gateway's own words to the model. */
const READS_ONLY =
  "In this chat only actions that read are allowed; everything else is refused. Say so when something else is asked for.";

/** `/approve CODE`, `/approve CODE guest`. */
async function approve(env: Env, { home }: Connection, argument: string, by: string): Promise<string> {
  const [code = "", word = "member"] = argument.split(/\s+/);
  const role = ROLES.find((one) => one === word.toLowerCase());
  if (!/^[A-Za-z0-9]{6}$/.test(code) || !role)
    return "Expected /approve and the code of six characters; then, if you like, guest, member or owner.";
  const sender = await homeOf(env, home).approvePairing(code, role, by);
  if (!sender)
    return `There is no code ${code.toUpperCase()}: it may have expired. Whoever has it gets a new one by writing again.`;
  return `${sender.name || sender.sender} (${sender.channel}) may speak now, as ${withArticle(role)}.`;
}

function withArticle(role: Role): string {
  return role === "owner" ? "an owner" : `a ${role}`;
}

/** A button: by who may, for a question of this very conversation, and once. */
async function press(
  env: Env,
  name: string,
  { principal, mayApprove, role }: Admitted & { ok: true },
  act: Incoming["act"] & { do: "press" },
): Promise<Taken> {
  const asked = await conversationOf(env, name).asked(act.question);
  const answer = asked && answerOf(asked.question, act.choice);
  if (!asked || answer === undefined) return { refused: "This question is not open any more." };
  const scopes = mayApprove ? (["ask", "approve"] as const) : (["ask"] as const);
  const person = { name: principal, role, scopes };
  const isApproval = asked.question.approval !== undefined;
  // Everybody here reads it; a question is answered by whom it was asked, or by whoever may approve.
  const sharedWith = mayApprove ? [principal] : [];
  if (!mayAnswer(person, { kind: isApproval ? "approval" : "conversation", by: asked.principal, sharedWith }))
    return {
      refused: isApproval ? `Only ${ROLE_WORDS} may decide this.` : "This question is not yours.",
    };
  if (answer === "approve" && isTooLong(asked.question)) return { refused: TOO_LONG };
  const home = homeOf(env, name.split("/", 1)[0] ?? "");
  const answered = await home.answer(act.question, answer, person, true);
  if (answered.ok) {
    logInfo("question.pressed", { question: act.question, role });
    return {};
  }
  return { refused: answered.message };
}

const ROLE_WORDS = "somebody who is allowed to approve";

/** A program that waits for its answer. The same delivery again finds the same turn. */
async function answerHere(
  c: Context<App>,
  connection: Connection,
  events: readonly Incoming[],
  ack: (words: string | undefined, to: Incoming) => Ack,
): Promise<Response> {
  const [event] = events;
  const channel = channelOf(connection.channel);
  if (!event || !channel) throw new HttpError(400, "invalid_body", "expected a message");
  if (!(await isSlowEnough(c.env, connection, event))) throw tooManyRequests(c, "messages of this sender");
  const { refused, words, turn, notice } = await take(c.env, channel, connection, event);
  if (notice) afterwards(c, "knock.untold", notice);
  const { conversation } = event.address;
  if (words !== undefined) return c.json({ conversation, status: "done", text: words, files: [] });
  if (turn === undefined) return finish(c, [ack(refused, event)]);
  const name = `${connection.home}/${connection.channel}/${event.conversation}`;
  const result = await turnResult(c.env, name, turn, JSON_PATIENCE_MS, c.req.raw.signal);
  if (!result) {
    const open = (await conversationOf(c.env, name).look(turn))?.questions ?? [];
    const questions = open
      .filter(({ answer }) => answer === undefined)
      .map((asked) => ({
        question: asked.id,
        text: questionWords(asked, new URL(c.req.url).origin),
        choices: answersOf(asked),
      }));
    return c.json({ conversation, turn, status: "running", questions }, 202);
  }
  const { origin } = new URL(c.req.url);
  const files = await Promise.all(
    result.calls
      .flatMap(({ media = [] }) => media)
      .map(async ({ id, media_type, bytes }) => {
        // Its own secret opens nothing else here.
        const url = await mediaLink(c.env, origin, connection.home, id);
        return { id, media_type, bytes, url };
      }),
  );
  return c.json({ conversation, turn, status: result.status, text: result.answer, files });
}
