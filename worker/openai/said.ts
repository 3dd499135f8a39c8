/** What a client sent of a conversation, sorted: instructions, what was said before, and what is said now. */
import { MAX_PICTURES } from "@edgecall/core/loop/messages.ts";
import type { BroughtEntry } from "../conversation/brought.ts";
import { mediaId, type NewMedia, separateImages } from "../conversation/media.ts";
import { HttpError } from "../http.ts";

/** As much as a model of a home is good for; the documents of a chat page come within it. */
const TEXT_MAX_CHARS = 100_000;
/** Of what was said before, in characters, the newest: it has to fit a row, and the model is shown less. */
const HISTORY_MAX_CHARS = 200_000;
/** A picture as the model's endpoint takes it: 4 MiB, in base64. */
const PICTURE_MAX_CHARS = 5_600_000;
const PICTURE = /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/;

export type Said = { role: "system" | "user" | "assistant"; text: string; images: string[] };

export type Sorted = {
  instructions: string;
  history: BroughtEntry[];
  text: string;
  images: string[];
  /** What the chat began with: names it while it goes on. */
  beginning: string;
};

/** @param field for the errors: `messages` or `input`. @throws HttpError */
export function sortSaid(said: readonly Said[], field: string): Sorted {
  const instructions = said
    .flatMap(({ role, text }) => (role === "system" && text !== "" ? [text] : []))
    .join("\n\n");
  const spoken = said.filter(({ role }) => role !== "system");
  const before = spoken.findLastIndex(({ role }) => role === "assistant") + 1;
  const now = spoken.slice(before);
  const text = now
    .map((one) => one.text)
    .filter((one) => one !== "")
    .join("\n\n");
  const images = now.flatMap((one) => one.images);
  if (now.length === 0) throw invalid(`${field}: the last one has to be the user's`);
  if (text.trim() === "" && images.length === 0) throw invalid(`${field}: the last one is empty`);
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
  return {
    instructions,
    history: newest(spoken.slice(0, before), MAX_PICTURES - images.length),
    text,
    images,
    beginning: spoken.find(({ role }) => role === "user")?.text ?? "",
  };
}

function isPictureUrl(url: string): boolean {
  if (url.startsWith("data:")) return url.length <= PICTURE_MAX_CHARS && PICTURE.test(url);
  return url.length <= 4_096 && /^https:\/\/\S+$/.test(url) && URL.canParse(url);
}

function newest(spoken: readonly Said[], pictures: number): BroughtEntry[] {
  const entries: BroughtEntry[] = [];
  let chars = HISTORY_MAX_CHARS;
  let room = pictures;
  for (const { role, text, images } of spoken.toReversed()) {
    chars -= text.length;
    if (chars < 0) break;
    const shown = role === "user" ? images.filter(isPictureUrl).slice(0, room) : [];
    room -= shown.length;
    const left = images.length > shown.length ? "\n[a picture that is not shown any more]" : "";
    const words = `${role === "assistant" ? withoutLinks(text) : text}${left}`;
    if (words !== "" || shown.length > 0)
      entries.push({
        role: role === "assistant" ? "assistant" : "user",
        text: words,
        ...(shown.length > 0 && { images: shown }),
      });
  }
  return entries.reverse();
}

/** Links that we gave the person (media-links.ts) are not for the model to repeat. */
function withoutLinks(text: string): string {
  return text.replace(/!?\[([^\]\n]*)\]\(https?:\/\/[^)\s]*\/v1\/media\/[^)\s]*\)/g, "[$1]");
}

/** The pictures of what was sent become kept ones. @throws HttpError one that holds no base64 */
export async function keepPictures(
  sorted: Sorted,
  turn: string,
  name: string,
): Promise<{ images: string[]; history: BroughtEntry[]; added: NewMedia[] }> {
  const added: NewMedia[] = [];
  let count = 0;
  const keep = async (urls: readonly string[]) => {
    const first = count;
    count += urls.length;
    const kept = await separateImages(urls, (n) => mediaId(`${turn}-${first + n}`, name)).catch(() => {
      throw invalid("a picture's data address holds no base64");
    });
    added.push(...kept.added);
    return kept.images;
  };
  const images = await keep(sorted.images);
  const history: BroughtEntry[] = [];
  for (const entry of sorted.history)
    history.push(entry.images ? { ...entry, images: await keep(entry.images) } : entry);
  return { images, history, added };
}

function invalid(message: string): HttpError {
  return new HttpError(400, "invalid_body", message);
}
