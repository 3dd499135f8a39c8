/** Colours for people at a terminal. */
import type { CommandCall } from "../command.ts";

/** SGR parameters (ECMA-48 §8.3.117) that begin and end a style. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
} as const;

type Style = keyof typeof STYLES;
export type Paint = (style: Style, text: string) => string;

/** @param terminal true if the output is a terminal; NO_COLOR (no-color.org) and TERM=dumb switch colours off */
export function paintFor(terminal: boolean, env: CommandCall["env"]): Paint {
  if (!terminal || env.NO_COLOR || env.TERM === "dumb") return (_, text) => text;
  return (style, text) => {
    const [begin, end] = STYLES[style];
    return `\u001b[${begin}m${text}\u001b[${end}m`;
  };
}

/** A table's column for what `statusOf` says. */
export function statusColumn(paint: Paint) {
  return {
    title: "STATUS",
    paint: (cell: string) => paint(cell.trim() === "offline" ? "red" : "green", cell),
  };
}
