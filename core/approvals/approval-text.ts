/** Writes out what an approval is for: the lines of a script, and the arguments of one call, or a line for each of several calls. */
import { isObject } from "../protocol/is-object.ts";
import { visible, visibleJson } from "../tools/visible.ts";

type Shown = {
  approval: {
    parameters: Record<string, unknown>;
    card?: { shows?: readonly string[] | undefined } | undefined;
  };
  members?: readonly unknown[] | undefined;
};

/**
 * All of what would be run. @property lines of the text that the question calls "this"; absent: there is none, or it cannot be told
 * from its lines @property rest the other arguments, as JSON; "": there are none
 */
type ApprovalText = { lines?: string[]; rest: string };

/** @returns all of it, with visible characters only @param indent of the JSON of one call */
export function approvalText({ approval, members }: Shown, indent: number | undefined): ApprovalText {
  const { parameters, card } = approval;
  if (members) {
    // The gateway makes the names: number, action and device.
    const listed = Object.entries(parameters).map(
      ([name, args]) => `${visible(name).replaceAll("\n", "\\n")} ${visibleJson(args)}`,
    );
    return { rest: listed.join("\n") };
  }
  const [text, others] = takenOut(parameters, card?.shows ?? []);
  const lines = typeof text === "string" ? readableLines(text) : undefined;
  if (!lines) return { rest: visibleJson(parameters, indent) };
  return { lines, rest: Object.keys(others).length === 0 ? "" : visibleJson(others, indent) };
}

/** @returns the value at a path, and the rest without it; undefined where there is none */
function takenOut(
  from: Record<string, unknown>,
  [name, ...below]: readonly string[],
): [value: unknown, rest: Record<string, unknown>] {
  if (name === undefined || !Object.hasOwn(from, name)) return [undefined, from];
  const { [name]: own, ...others } = from;
  if (below.length === 0) return [own, others];
  if (!isObject(own)) return [undefined, from];
  const [value, rest] = takenOut(own, below);
  return [value, { ...others, [name]: rest }];
}

/** More lines, empty ones in a row, spaces in a row, or characters of a line hide what comes after them. */
const LINES_MAX = 200;
const EMPTY_MAX = 2;
const GAP = /[^\S\n]{40}/;
const LINE_CHARS_MAX = 1_000;

/** The lines of a text, as a person can read them; undefined: as JSON less of it is hidden. */
function readableLines(text: string): string[] | undefined {
  const shown = visible(text);
  const lines = shown.replace(/\n$/, "").split("\n");
  const isReadable =
    shown === text &&
    text.trim() !== "" &&
    lines.length <= LINES_MAX &&
    !GAP.test(text) &&
    !new RegExp(`\\n{${EMPTY_MAX + 2}}`).test(text) &&
    !/^\n|\n\n$/.test(text) &&
    lines.every((line) => line.length <= LINE_CHARS_MAX);
  return isReadable ? lines : undefined;
}
