/** What a client sent of a conversation, sorted: instructions, what was said before, and what is said now. */
import { MAX_PICTURES } from "@edgecall/core/loop/messages.ts";
import type { NewMedia } from "../../api/media.ts";
import { mediaId, separateImages } from "../../api/media.ts";
import type { ClientHistoryCall, ClientHistoryEntry } from "../../api/turns.ts";
import { HttpError } from "../../http/errors.ts";
import { readClientCallId } from "./conversation-key.ts";

/** As much as a model of a home is good for; the documents of a chat page come within it. */
const TEXT_MAX_CHARS = 100_000;
/** Of what was said before, in characters, the newest: it has to fit a row, and the model is shown less. */
const HISTORY_MAX_CHARS = 200_000;
/** A picture as the model's endpoint takes it: 4 MiB, in base64. */
const PICTURE_MAX_CHARS = 5_600_000;
const PICTURE = /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/;

export type ClientMessage = {
  role: "system" | "user" | "assistant" | "tool";
  text: string;
  images: string[];
  /** Of tools of the client's, in an assistant's message. */
  calls?: ClientHistoryCall[];
  /** The call that a tool's message answers. */
  call?: string;
};

export type SortedMessages = {
  instructions: string;
  history: ClientHistoryEntry[];
  /** The client sent what was said before. */
  hasHistory: boolean;
  /** Results of calls that we handed over, by their `callRef`. */
  results: Record<string, string>;
  /** The object of a chat without a name in which such a call was. */
  object: string | undefined;
  /** Empty: the last one is a result, or the assistant's. */
  text: string;
  images: string[];
  /** The model gets this text when nothing new is said. */
  note: string | undefined;
  /** What the chat began with: names it while it goes on. */
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
  const wrong = images.find((image) => !isPictureUrl(image));
  if (wrong !== undefined)
    throw invalid(
      `${field}: a picture is an https address, or a data address of a PNG, JPEG, WebP or GIF of at most 4 MiB; got '${wrong.slice(0, 40)}'`,
    );
  const { past, results, object } = withResults(spoken.slice(0, before), field);
  return {
    instructions,
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

/** Each result to its call, and to nobody else's: endpoints refuse one that answers none. @throws HttpError */
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

/** A form that endpoints take, and only once. */
function idFor(id: string, taken: ReadonlyMap<string, ClientHistoryCall>): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) && !taken.has(id)
    ? id
    : `call_${crypto.randomUUID().replaceAll("-", "")}`;
}

function isPictureUrl(url: string): boolean {
  if (url.startsWith("data:")) return url.length <= PICTURE_MAX_CHARS && PICTURE.test(url);
  return url.length <= 4_096 && /^https:\/\/\S+$/.test(url) && URL.canParse(url);
}

function newest(spoken: readonly ClientMessage[], maxPictures: number): ClientHistoryEntry[] {
  const entries: ClientHistoryEntry[] = [];
  let chars = HISTORY_MAX_CHARS;
  let room = maxPictures;
  for (const { role, text, images, calls } of spoken.toReversed()) {
    chars -= text.length + sizeOf(calls);
    if (chars < 0) break;
    const pictures = role === "user" ? images.filter(isPictureUrl).slice(0, room) : [];
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

/** Links that we gave the person (media-links.ts) are not for the model to repeat. */
function withoutLinks(text: string): string {
  return text.replace(/!?\[([^\]\n]*)\]\(https?:\/\/[^)\s]*\/v1\/media\/[^)\s]*\)/g, "[$1]");
}

/** The pictures of what was sent become kept ones. @throws HttpError one that holds no base64 */
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
