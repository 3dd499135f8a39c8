/** Sorts the messages of a client's request into instructions, history and the new message. */
import { MAX_PICTURES } from "@edgecall/core/loop/messages.ts";
import type { NewMedia } from "../../kernel/api/media.ts";
import { isPictureUrl, mediaId, separateImages } from "../../kernel/api/media.ts";
import type { ClientHistoryCall, ClientHistoryEntry } from "../../kernel/api/turns.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { readClientCallId } from "./conversation-key.ts";

/** Enough for the documents that a chat page includes. */
const TEXT_MAX_CHARS = 100_000;
/** The newest so many characters of the history are used: it is stored in one row, and the model gets less anyway. */
const HISTORY_MAX_CHARS = 200_000;
/** A picture as the model's endpoint takes it: 4 MiB, in base64. */
const PICTURE_MAX_CHARS = 5_600_000;

export type ClientMessage = {
  role: "system" | "user" | "assistant" | "tool";
  text: string;
  images: string[];
  /** Of a field of its own: it is not among the messages. */
  beside?: true;
  /** Calls of the client's own tools, in an assistant's message. */
  calls?: ClientHistoryCall[];
  /** The id of the call whose result a tool's message has. */
  call?: string;
};

export type SortedMessages = {
  instructions: string;
  /** Those of the instructions that the person's program sent as messages. */
  developer: string[];
  history: ClientHistoryEntry[];
  /** The client sent earlier messages. */
  hasHistory: boolean;
  /** Results of calls that the gateway gave to the client, by their `callRef`. */
  results: Record<string, string>;
  /** The object of the unnamed chat to which such a call belongs. */
  object: string | undefined;
  /** Empty when the last message is a result, or the assistant's. */
  text: string;
  images: string[];
  /** Text for the model when there is no new message. */
  note: string | undefined;
  /** The chat's first user message, by which an unnamed chat is found again. */
  beginning: string;
};

/** Many endpoints refuse a history that ends with the assistant's words. */
const GO_ON = "Go on with your last message, from where it ends; do not repeat what it says.";

/** @param field for the errors: `messages` or `input`. @throws HttpError */
export function sortMessages(messages: readonly ClientMessage[], field: string): SortedMessages {
  const instructions = messages
    .flatMap(({ role, text }) => (role === "system" && text !== "" ? [text] : []))
    .join("\n\n");
  const spoken = messages.filter(({ role }) => role !== "system");
  const before = spoken.findLastIndex(({ role }) => role !== "user") + 1;
  const now = spoken.slice(before);
  const text = now
    .map((one) => one.text)
    .filter((one) => one !== "")
    .join("\n\n");
  const images = now.flatMap((one) => one.images);
  if (!spoken.some(({ role }) => role === "user" || role === "tool"))
    throw invalid(`${field}: nobody asks anything; expected a message of the user's`);
  if (now.length > 0 && text.trim() === "" && images.length === 0)
    throw invalid(`${field}: the last one is empty`);
  for (const long of [instructions, text])
    if (long.length > TEXT_MAX_CHARS)
      throw invalid(`${field}: ${long.length} characters where ${TEXT_MAX_CHARS} are taken at once`);
  if (images.length > MAX_PICTURES)
    throw invalid(`${field}: ${images.length} pictures where ${MAX_PICTURES} are taken at once`);
  const wrong = images.find((image) => !isTaken(image));
  if (wrong !== undefined)
    throw invalid(
      `${field}: a picture is an https address, or a data address of a PNG, JPEG, WebP or GIF of at most 4 MiB; got '${wrong.slice(0, 40)}'`,
    );
  const { past, results, object } = withResults(spoken.slice(0, before), field);
  return {
    instructions,
    developer: messages.flatMap(({ role, text: one, beside }) =>
      role === "system" && !beside && one !== "" ? [one] : [],
    ),
    history: newest(past, MAX_PICTURES - images.length),
    hasHistory: past.length > 0,
    results,
    object,
    text,
    images,
    note: now.length === 0 && past.at(-1)?.calls === undefined && past.length > 0 ? GO_ON : undefined,
    beginning: spoken.find(({ role }) => role === "user")?.text ?? "",
  };
}

/** Adds each result to its call: endpoints refuse a result without a call. @throws HttpError 400 for such a result */
function withResults(
  messages: readonly ClientMessage[],
  field: string,
): { past: ClientMessage[]; results: Record<string, string>; object: string | undefined } {
  const past: ClientMessage[] = [];
  const results: Record<string, string> = {};
  const calls = new Map<string, ClientHistoryCall>();
  let object: string | undefined;
  for (const [at, one] of messages.entries()) {
    if (one.role !== "tool") {
      const own = one.calls?.map((call): ClientHistoryCall => {
        const known = readClientCallId(call.id);
        const copy = known
          ? { ...call, id: known.ref, own: true as const }
          : { ...call, id: idFor(call.id, calls) };
        object = known?.object ?? object;
        calls.set(call.id, copy);
        return copy;
      });
      past.push(own ? { ...one, calls: own } : one);
      continue;
    }
    const id = one.call ?? "";
    const known = readClientCallId(id);
    const call = calls.get(id);
    if (!known && !call)
      throw invalid(`${field}: result ${at} answers '${id.slice(0, 60)}', which no message before it called`);
    const text = one.text.slice(0, TEXT_MAX_CHARS);
    object = known?.object ?? object;
    if (known) results[known.ref] = text;
    if (call) call.result = text;
  }
  return { past, results, object };
}

/** @returns an id that endpoints accept and that is not taken yet */
function idFor(id: string, taken: ReadonlyMap<string, ClientHistoryCall>): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) && !taken.has(id)
    ? id
    : `call_${crypto.randomUUID().replaceAll("-", "")}`;
}

function isTaken(url: string): boolean {
  if (/^data:/i.test(url)) return url.length <= PICTURE_MAX_CHARS && isPictureUrl(url);
  return url.length <= 4_096 && isPictureUrl(url) && URL.canParse(url);
}

function newest(spoken: readonly ClientMessage[], maxPictures: number): ClientHistoryEntry[] {
  const entries: ClientHistoryEntry[] = [];
  let chars = HISTORY_MAX_CHARS;
  let room = maxPictures;
  for (const { role, text, images, calls } of spoken.toReversed()) {
    chars -= text.length + sizeOf(calls);
    if (chars < 0) break;
    const pictures = role === "user" ? images.filter(isTaken).slice(0, room) : [];
    room -= pictures.length;
    const left = images.length > pictures.length ? "\n[a picture that is not shown any more]" : "";
    const words = `${role === "assistant" ? withoutLinks(text) : text}${left}`;
    if (words !== "" || pictures.length > 0 || calls)
      entries.push({
        role: role === "assistant" ? "assistant" : "user",
        text: words,
        ...(pictures.length > 0 && { images: pictures }),
        ...(calls && { calls }),
      });
  }
  return entries.reverse();
}

function sizeOf(calls: readonly ClientHistoryCall[] = []): number {
  return calls.reduce((sum, call) => sum + call.arguments.length + (call.result?.length ?? 0), 0);
}

/** Removes links that we gave the person (media-links.ts), so that the model does not repeat them. */
function withoutLinks(text: string): string {
  return text.replace(/!?\[([^\]\n]*)\]\(https?:\/\/[^)\s]*\/v1\/media\/[^)\s]*\)/g, "[$1]");
}

/** Replaces pictures in `data:` URLs by stored ones. @throws HttpError 400 for one without valid base64 */
export async function storePictures(
  sorted: SortedMessages,
  turn: string,
  name: string,
): Promise<{ images: string[]; history: ClientHistoryEntry[]; added: NewMedia[] }> {
  const added: NewMedia[] = [];
  let count = 0;
  const keep = async (urls: readonly string[]) => {
    const first = count;
    count += urls.length;
    const stored = await separateImages(urls, (n) => mediaId(`${turn}-${first + n}`, name)).catch(() => {
      throw invalid("a picture's data address holds no base64");
    });
    added.push(...stored.added);
    return stored.images;
  };
  const images = await keep(sorted.images);
  const history: ClientHistoryEntry[] = [];
  for (const entry of sorted.history)
    history.push(entry.images ? { ...entry, images: await keep(entry.images) } : entry);
  return { images, history, added };
}

function invalid(message: string): HttpError {
  return new HttpError(400, "invalid_body", message);
}
