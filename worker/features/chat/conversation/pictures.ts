/** Pictures and voice messages that people sent to a chat: fetched from the platform before the model is asked. */
import { KEPT } from "@edgecall/core/loop/messages.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import { isPicture, MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { mediaId, type NewMedia, newMedia } from "../../../kernel/api/media.ts";
import { quotedText } from "../../../kernel/api/quoted-text.ts";
import type { Address } from "../../../kernel/api/turns.ts";
import type { ConversationContext } from "../../../kernel/conversation/context.ts";
import type { Turn } from "../../../kernel/conversation/store/rows.ts";
import type { Env } from "../../../kernel/env.ts";
import { logError } from "../../../kernel/log.ts";
import { transcribe } from "../../../kernel/models/transcription.ts";
import { readTranscription } from "../../../kernel/settings/transcription.ts";
import type { PictureRef } from "../contract.ts";
import { platformOf } from "../platforms/all.ts";
import { connectionOf } from "../platforms/connections.ts";
import { PlatformError } from "../platforms/platform-request.ts";

/** Of one turn, as its model is shown. */
const PICTURES_MAX = 8;
const DOWNLOAD_TRIES = 2;
/** For the model, which tells the person. */
const PICTURE_MISSING = "[a picture could not be fetched]";
const THREAD_MISSING =
  "[what was said in this thread before could not be read; if it matters, say that the app needs the right to read this channel's history]";
const VOICE_MISSING = "[a voice message came that could not be understood; ask for it in writing]";

/** Notes what a message came with, to be fetched before the model is asked. */
export function notePictures(
  { ctx, tables }: ConversationContext,
  turn: Turn,
  address: Address | undefined,
  pictures: readonly PictureRef[],
): void {
  if (pictures.length > 0) tables.need("inbound");
  for (const picture of pictures.slice(0, PICTURES_MAX))
    ctx.storage.sql.exec(
      "INSERT INTO inbound (turn, address, picture) VALUES (?, ?, ?)",
      turn.n,
      JSON.stringify(address ?? {}),
      JSON.stringify(picture),
    );
}

/** Notes that what was said in its thread before is to be read. */
export function noteThread(
  { ctx, tables }: ConversationContext,
  turn: Turn,
  address: Address | undefined,
): void {
  tables.need("inbound");
  ctx.storage.sql.exec(
    "INSERT INTO inbound (turn, address, picture) VALUES (?, ?, ?)",
    turn.n,
    JSON.stringify(address ?? {}),
    JSON.stringify(THREAD),
  );
}

/** Stands for the thread, which is fetched as a picture is. */
const THREAD = { ref: "thread" } as const;

/** Fetches what a turn's messages came with. @returns false when there was nothing */
export async function fetchPictures(context: ConversationContext, turn: Turn): Promise<boolean> {
  const { ctx, alarm, media, tables, transcript } = context;
  if (!tables.has("inbound")) return false;
  const { sql } = ctx.storage;
  const rows = sql
    .exec<{ n: number; address: string; picture: string }>(
      "SELECT * FROM inbound WHERE turn = ? ORDER BY n",
      turn.n,
    )
    .toArray();
  if (rows.length === 0) return false;
  await alarm.lease();
  // SAFETY: `notePictures` wrote them.
  const wanted = rows.map(({ address, picture }) => ({
    address: JSON.parse(address) as Address,
    picture: JSON.parse(picture) as PictureRef,
  }));
  const fetched = await Promise.all(
    wanted.map(({ address, picture }) =>
      picture.ref === THREAD.ref ? readThread(context, address) : fetchPicture(context, address, picture),
    ),
  );
  const added = fetched.flatMap((one) => one.media ?? []);
  // No await from here on: the rows are written together or not at all.
  for (const one of added) media.add(one);
  transcript.addPictures(
    turn.n,
    added.map(({ id }) => KEPT + id),
    fetched.flatMap(({ words }) => words ?? []).join("\n\n"),
    wanted.some(({ picture }) => (picture.voice && !picture.own) || picture.ref === THREAD.ref)
      ? [STRANGER]
      : [],
  );
  for (const { n } of rows) sql.exec("DELETE FROM inbound WHERE n = ?", n);
  return true;
}

/** @returns words for the model: what others said in the thread, or that it could not be read */
async function readThread(
  { env, name: conversation }: ConversationContext,
  address: Address,
): Promise<{ media?: NewMedia; words?: string }> {
  const [home = "", name = ""] = conversation.split("/");
  const channel = platformOf(name);
  try {
    const connection = await connectionOf(env, home, name, address.connection);
    const words = connection && (await channel?.thread?.({ connection, address }));
    return words === undefined ? {} : { words: quotedText("in this thread", words) };
  } catch (error) {
    logError("thread.failed", error, { conversation });
    return { words: THREAD_MISSING };
  }
}

/** @returns a picture to keep, or words for the model: what was said in a voice message, or what is missing */
async function fetchPicture(
  { env, name: conversation }: ConversationContext,
  address: Address,
  picture: PictureRef,
): Promise<{ media?: NewMedia; words?: string }> {
  const missing = { words: picture.voice ? VOICE_MISSING : PICTURE_MISSING };
  const [home = "", name = ""] = conversation.split("/");
  const channel = platformOf(name);
  for (let tries = 1; ; tries += 1) {
    try {
      const connection = await connectionOf(env, home, name, address.connection);
      if (!channel || !connection) return missing;
      const { data, mediaType } = await channel.picture({ connection, address }, picture);
      if (picture.voice) {
        const words = await transcribed(env, { data, mediaType });
        return { words: picture.own ? words : quotedText("an audio file", words) };
      }
      // By its bytes: what a platform calls it is what a person called it.
      const media_type = typeOf(data);
      if (!media_type || !isPicture({ media_type }) || data.length > MEDIA_MAX_BYTES) return missing;
      return { media: await newMedia(mediaId(crypto.randomUUID(), conversation), media_type, data) };
    } catch (error) {
      const again = error instanceof PlatformError && error.refusal.kind === "again";
      if (again && tries < DOWNLOAD_TRIES) continue;
      logError("picture.failed", error, { conversation });
      return missing;
    }
  }
}

async function transcribed(env: Env, audio: { data: Uint8Array; mediaType: string }): Promise<string> {
  const transcription = readTranscription(env);
  if (!transcription.ok || !transcription.value) return VOICE_MISSING;
  const text = await transcribe(transcription.value, env.AI, audio);
  return text === "" ? "[a voice message without words]" : text;
}

/** A raster picture's media type by its first bytes. */
function typeOf(data: Uint8Array): string | undefined {
  const head = String.fromCharCode(...data.subarray(0, 12));
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return head.startsWith("RIFF") && head.endsWith("WEBP") ? "image/webp" : undefined;
}
