/** Converts a message from a chat app into a delivery for its conversation. */
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { graphemeCut } from "@edgecall/core/text/cut.ts";
import { quotedText } from "../../../kernel/api/quoted-text.ts";
import type { Env } from "../../../kernel/env.ts";
import type { Connection } from "../../../kernel/settings/chat.ts";
import { readTranscription } from "../../../kernel/settings/transcription.ts";
import type { Delivery, PictureRef } from "../contract.ts";
import type { ChatPlatform, Incoming } from "../platforms/chat-platform.ts";
import { mistypedCommand, readCommand } from "../platforms/read-command.ts";
import { type Admitted, approveUnknownSender } from "./admission.ts";

const TEXT_MAX_CHARS = 32_000;

/** @property left how many characters were left out, which the model and the person are told */
function cutMessage(text: string): { text: string; left: number } {
  const at = graphemeCut(text, TEXT_MAX_CHARS);
  const left = text.length - at;
  if (left === 0) return { text, left };
  return {
    text: `${text.slice(0, at)}\n\n[The message was cut here: ${left} more characters were left out.]`,
    left,
  };
}

function cutNotice(left: number): string {
  return `Your message is too long: I read its beginning, and not the last ${left} characters.`;
}

/** For the model, below the gateway's own prompt. */
const READS_ONLY =
  "In this chat only actions that read are allowed; everything else is refused. Say so when something else is asked for.";

/** A program without a callback gets its answer in the webhook's response. */
export function isAnsweredInResponse(connection: Connection): boolean {
  return connection.channel === "generic" && connection.callback_url === undefined;
}

/** An owner's `/approve` is done here, and the delivery says what came of it. */
export async function toDelivery(
  env: Env,
  channel: ChatPlatform,
  connection: Connection,
  event: Incoming,
  admitted: Admitted & { ok: true },
  privateChat: string | undefined,
): Promise<Delivery> {
  const { principal, role, ownRole, limits, isOwner } = admitted;
  const origin = {
    principal,
    role,
    channel: connection.channel,
    privateChat,
    limits,
    ...(limits.readsOnly && { brought: { instructions: READS_ONLY } }),
    ...(!isAnsweredInResponse(connection) && { reply: event.address }),
  };
  const id = event.delivery;
  const said: { text: string; forwarded?: string } = event.act.do === "say" ? event.act : { text: "/stop" };
  const { text: own, left: ownLeft } = cutMessage(said.text);
  const { text: others, left: othersLeft } = cutMessage(said.forwarded ?? "");
  const left = ownLeft + othersLeft;
  const isForwarded = others.trim() !== "";
  const text = isForwarded ? `${own}\n\n${quotedText("forwarded", others)}`.trimStart() : own;
  const command = readCommand(own);
  if (command?.name === "approve" && isOwner)
    return {
      id,
      origin,
      act: { do: "tell", text: await approveUnknownSender(env, connection, command.argument, principal) },
    };
  if (command) return { id, origin, act: { do: "command", command, ownRole } };
  const advice = mistypedCommand(own);
  if (advice) return { id, origin, act: { do: "tell", text: advice } };
  const { pictures, unread } = event.act.do === "say" ? readable(env, event.act) : { pictures: [] };
  if (unread !== undefined && text.trim() === "" && pictures.length === 0)
    return { id, origin, act: { do: "tell", text: unread.words } };
  const along = unread === undefined ? "" : `\n\n[With it came ${unread.what}, which cannot be read here.]`;
  const { quoted, thread } = event.act.do === "say" ? event.act : {};
  const act = {
    do: "say" as const,
    text: `${text}${along}`,
    pictures,
    merge: channel.merges,
    ...(quoted && {
      quoted: { ...quoted, ...(quoted.text !== undefined && { text: cutMessage(quoted.text).text }) },
    }),
    ...(thread && { thread }),
  };
  return {
    id,
    origin,
    act: {
      ...act,
      ...(isForwarded && { sources: [STRANGER] }),
      ...(left > 0 && { notice: cutNotice(left) }),
    },
  };
}

const VOICE = "a voice message";

/** The pictures that can be read here; voice messages too, where a model transcribes them. `unread`: what cannot be read. */
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
