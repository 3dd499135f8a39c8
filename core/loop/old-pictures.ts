/** Takes the pictures out of a history that a request does not include, so that its size is what is sent. Pure. */
import { isPicture, type Media, mediaText } from "../protocol/media.ts";
import type { Call, Entry } from "./history.ts";
import { GONE_PICTURE, KEPT, pictureIds, pictureIdsOf } from "./messages.ts";

/** @returns the same list when it has no such picture */
export function withoutOldPictures<E extends Entry>(history: readonly E[]): readonly E[] {
  const shown = new Set(pictureIds(history));
  const isOld = (id: string) => !shown.has(id);
  if (!history.some((entry) => pictureIdsOf(entry).some(isOld))) return history;
  return history.map((entry): E => {
    if (!pictureIdsOf(entry).some(isOld)) return entry;
    if (entry.role === "user") {
      const images = (entry.images ?? []).filter(
        (url) => !url.startsWith(KEPT) || !isOld(url.slice(KEPT.length)),
      );
      const gone = (entry.images ?? []).length - images.length;
      return {
        ...entry,
        images,
        text: [entry.text, ...Array(gone).fill(GONE_PICTURE)].filter(Boolean).join("\n"),
      };
    }
    return entry.role === "assistant"
      ? { ...entry, calls: entry.calls.map((call) => withoutOld(call, isOld)) }
      : entry;
  });
}

/** The picture's name stays in the result, so that a person can still ask for it. */
function withoutOld(call: Call, isOld: (id: string) => boolean): Call {
  const { media = [], ...outcome } = call.outcome ?? { text: "" };
  const gone: Media[] = media.filter((item) => "id" in item && isPicture(item) && isOld(item.id));
  if (!call.outcome || gone.length === 0) return call;
  const text = [outcome.text, ...gone.map(mediaText)].filter(Boolean).join("\n");
  return { ...call, outcome: { ...call.outcome, text, media: media.filter((item) => !gone.includes(item)) } };
}
