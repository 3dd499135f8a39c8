/** The answer to a question back: the person names one of several, and the sentence of then means that one. Pure. */
import type { Frame, Frames, Target } from "@edgecall/core/sentences/frame.ts";
import type { NameTable } from "@edgecall/core/sentences/names.ts";
import { keyOf } from "@edgecall/core/sentences/words.ts";

/** Words before the name, as articles are. */
const BEFORE_MAX = 2;

/**
 * @param text what the person answered @param all the words for "all of them"
 * @returns the frames of then, about what was chosen; undefined: it names none of the home's things
 */
export function chosenFrames(
  frames: Frames,
  text: string,
  all: string,
  table: NameTable,
): Frames | undefined {
  const [frame, ...others] = frames;
  if (!frame || others.length > 0 || !("target" in frame) || !frame.target) return undefined;
  const { target } = frame;
  if (keyOf(text) === keyOf(all))
    return target.of === "type" ? [withTarget(frame, { ...target, number: "all" })] : undefined;
  const words = keyOf(text).split(" ");
  for (let at = 0; at <= Math.min(BEFORE_MAX, words.length - 1); at += 1) {
    const found = table.get(words.slice(at).join(" "));
    const place = "place" in target && target.place ? { place: target.place } : {};
    if (place.place?.is === "here") {
      const area = found.find(({ role }) => role === "area");
      if (area?.role !== "area") continue;
      const { ids, name } = area.value;
      return [withTarget(frame, { ...target, place: { is: "area", ids, name } } as Target)];
    }
    const named = found.find(({ role }) => role === "name");
    if (named?.role !== "name") continue;
    const { ids, name } = named.value;
    return [withTarget(frame, { of: "named", ids, name, ...place })];
  }
  return undefined;
}

function withTarget(frame: Frame, target: Target): Frame {
  // SAFETY: the frame had a target.
  return { ...frame, target } as Frame;
}
