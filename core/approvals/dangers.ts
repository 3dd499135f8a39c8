/**
 * What is plainly dangerous in a shell command. The device asks or refuses for it, and a person is shown the lines that have it. It helps
 * an honest model and the person who approves. It is no security boundary, since there is always another spelling.
 */

import { DANGER_TEXTS } from "../phrases/languages/danger-texts.ts";

type DangerKind = keyof typeof DANGER_TEXTS;

/** The places where a command may begin: at the start, after a separator, or after `sudo` and the like. */
const AT = String.raw`(?:^|[;&|({\n]|\$\(|\x60|\b(?:sudo|doas|exec|env|nohup|xargs|then|do|else) ) ?`;
/** Options before the relevant word. Bounded like every loop here (see `simplified`). */
const OPTIONS = String.raw`(?:-\S{1,200} ){0,20}`;

/**
 * A dangerous pattern in two parts, the second somewhere after the first. Two searches each pass over the text once; a single
 * pattern would search for the second part again at each match of the first.
 */
type Danger = { first: RegExp; behind?: RegExp; within?: RegExp; kind: DangerKind };

const danger = (first: RegExp | string, kind: DangerKind): Danger => ({ first: new RegExp(first), kind });

const DANGERS: readonly Danger[] = [
  danger(
    `\\brm ${OPTIONS}-(?:\\w{0,200}[rR]|-recursive)[\\w-]{0,200} ${OPTIONS}["']?(?:/|~|\\*|\\.\\.?/?(?:\\s|$))`,
    "whyFolders",
  ),
  danger(
    `\\brm ${OPTIONS}(?:-\\w{0,200}[rR]\\w{0,200}f|-\\w{0,200}f\\w{0,200}[rR]|-[rR] -f|-f -[rR])`,
    "whyNoAsking",
  ),
  { first: /\bfind\b/, behind: /\s-delete\b/, within: /[;&|\n]/, kind: "whyFound" },
  danger(/>\s?\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|loop|md|nbd|dm-|mapper|mtd|ram|zram|sr|disk)/, "whyDisk"),
  danger(/\bof=\/dev\/(?!null\b|zero\b|stdout\b|stderr\b)/, "whyDevice"),
  danger(`${AT}(?:mkfs(?:\\.\\w{1,20})?|wipefs|fdisk|sfdisk|parted|blkdiscard|shred)\\b`, "whyDisks"),
  danger(`${AT}(?:shutdown|reboot|poweroff|halt|telinit|init [06])\\b`, "whyPower"),
  danger(
    `\\bsystemctl ${OPTIONS}(?:stop|disable|mask|kill|isolate|reboot|poweroff|halt|edit|set-default)\\b`,
    "whyServices",
  ),
  {
    first: /: ?\( ?\) ?\{[^|\n]{0,200}\|/,
    behind: /& ?\} ?;/,
    within: /\n/,
    kind: "whyProcesses",
  },
  {
    first: /\b(?:curl|wget)\b/,
    behind: /\| ?(?:sudo )?(?:ba|da|z|k|a)?sh\b/,
    within: /[;&\n]/,
    kind: "whyWeb",
  },
  danger(`\\bcrontab ${OPTIONS}-r\\b`, "whyTasks"),
  danger(`\\bchmod ${OPTIONS}(?:-R|--recursive) \\S{0,200} ?/`, "whyRights"),
  danger(`\\bchown ${OPTIONS}(?:-R|--recursive)\\s`, "whyOwner"),
  danger(`${AT}(?:sudo|doas|su)\\b`, "whyUser"),
  {
    first: /\bgit push\b/,
    behind: /\s--force|\s-f\b/,
    within: /[;&|\n]/,
    kind: "whyHistory",
  },
  danger(/\b(?:iptables|ip6tables|nft|ufw)\s/, "whyFirewall"),
  danger(`${AT}(?:passwd|useradd|userdel|usermod|visudo)\\b`, "whyUsers"),
  danger(`\\bkill ${OPTIONS}-1\\b`, "whyEnds"),
  danger(/\b(?:insmod|rmmod|modprobe)\s/, "whyKernel"),
];

/** Words are cut to this; no option, program or folder in the patterns is longer. */
const WORD_CHARS = 200;

const LONG_WORD = new RegExp(`(\\S{${WORD_CHARS}})\\S+`, "g");

/** Leaves one blank between words, no empty lines, and words of bounded length, so that no pattern loops for long. */
function simplified(command: string): string {
  return command
    .replaceAll(/[^\S\n]+/g, " ")
    .replaceAll(/ ?\n[\n ]*/g, "\n")
    .replaceAll(LONG_WORD, "$1");
}

function isThere({ first, behind, within }: Danger, text: string): boolean {
  if (!behind || !within) return first.test(text);
  return text.split(within).some((part) => {
    const found = first.exec(part);
    return found !== null && behind.test(part.slice(found.index + found[0].length - 1));
  });
}

/** @returns why the command is dangerous; undefined: no pattern says so */
export function dangerIn(command: string): string | undefined {
  const kind = dangerKind(command);
  return kind && DANGER_TEXTS[kind];
}

function dangerKind(command: string): DangerKind | undefined {
  const simple = simplified(command);
  return DANGERS.find((one) => isThere(one, simple))?.kind;
}

/** @property line from 0 @property why names a message */
type MarkedLine = { line: number; why: DangerKind };

/** More lines are not judged one by one. */
const LINES_MAX = 1_000;

/** The lines of a script that are dangerous, each with the reason. A line goes on after a backslash at its end. */
export function markedLines(script: string): MarkedLine[] {
  const lines = script.split("\n");
  const marked: MarkedLine[] = [];
  for (let at = 0; at < lines.length && at < LINES_MAX; at += 1) {
    const from = at;
    while (/\\\r?$/.test(lines[at] ?? "") && at + 1 < lines.length) at += 1;
    const whole = lines
      .slice(from, at + 1)
      .map((line) => line.replace(/\\\r?$/, " "))
      .join("");
    const why = dangerKind(whole);
    if (why !== undefined) marked.push({ line: from, why });
  }
  // It stands in several lines, or beyond those that are judged.
  const why = marked.length === 0 ? dangerKind(script) : undefined;
  return why === undefined ? marked : [{ line: 0, why }];
}
