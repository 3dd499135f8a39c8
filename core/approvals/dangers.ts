/**
 * What is plainly dangerous in a shell command. The device asks or refuses for it, and a person is shown the lines that have it. It helps
 * an honest model and the person who approves. It is no security boundary, since there is always another spelling.
 */

/** The places where a command may begin: at the start, after a separator, or after `sudo` and the like. */
const AT = String.raw`(?:^|[;&|({\n]|\$\(|\x60|\b(?:sudo|doas|exec|env|nohup|xargs|then|do|else) ) ?`;
/** Options before the relevant word. Bounded like every loop here (see `simplified`). */
const OPTIONS = String.raw`(?:-\S{1,200} ){0,20}`;

/**
 * A dangerous pattern in two parts, the second somewhere after the first. Two searches each pass over the text once; a single
 * pattern would search for the second part again at each match of the first.
 */
type Danger = { first: RegExp; behind?: RegExp; within?: RegExp; reason: string };

const danger = (first: RegExp | string, reason: string): Danger => ({ first: new RegExp(first), reason });

const DANGERS: readonly Danger[] = [
  danger(
    `\\brm ${OPTIONS}-(?:\\w{0,200}[rR]|-recursive)[\\w-]{0,200} ${OPTIONS}["']?(?:/|~|\\*|\\.\\.?/?(?:\\s|$))`,
    "it deletes folders with all that is in them",
  ),
  danger(
    `\\brm ${OPTIONS}(?:-\\w{0,200}[rR]\\w{0,200}f|-\\w{0,200}f\\w{0,200}[rR]|-[rR] -f|-f -[rR])`,
    "it deletes folders without asking",
  ),
  { first: /\bfind\b/, behind: /\s-delete\b/, within: /[;&|\n]/, reason: "it deletes what it finds" },
  danger(
    />\s?\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|loop|md|nbd|dm-|mapper|mtd|ram|zram|sr|disk)/,
    "it writes to a disk itself",
  ),
  danger(/\bof=\/dev\/(?!null\b|zero\b|stdout\b|stderr\b)/, "it writes to a device"),
  danger(`${AT}(?:mkfs(?:\\.\\w{1,20})?|wipefs|fdisk|sfdisk|parted|blkdiscard|shred)\\b`, "it changes disks"),
  danger(
    `${AT}(?:shutdown|reboot|poweroff|halt|telinit|init [06])\\b`,
    "it turns the device off or on again",
  ),
  danger(
    `\\bsystemctl ${OPTIONS}(?:stop|disable|mask|kill|isolate|reboot|poweroff|halt|edit|set-default)\\b`,
    "it stops services",
  ),
  {
    first: /: ?\( ?\) ?\{[^|\n]{0,200}\|/,
    behind: /& ?\} ?;/,
    within: /\n/,
    reason: "it starts processes without end",
  },
  {
    first: /\b(?:curl|wget)\b/,
    behind: /\| ?(?:sudo )?(?:ba|da|z|k|a)?sh\b/,
    within: /[;&\n]/,
    reason: "it runs a program from the web",
  },
  danger(`\\bcrontab ${OPTIONS}-r\\b`, "it deletes all scheduled tasks"),
  danger(
    `\\bchmod ${OPTIONS}(?:-R|--recursive) \\S{0,200} ?/`,
    "it changes the rights of the system's files",
  ),
  danger(`\\bchown ${OPTIONS}(?:-R|--recursive)\\s`, "it gives files away"),
  danger(`${AT}(?:sudo|doas|su)\\b`, "it acts as another user"),
  {
    first: /\bgit push\b/,
    behind: /\s--force|\s-f\b/,
    within: /[;&|\n]/,
    reason: "it overwrites another repository's history",
  },
  danger(/\b(?:iptables|ip6tables|nft|ufw)\s/, "it changes the firewall"),
  danger(`${AT}(?:passwd|useradd|userdel|usermod|visudo)\\b`, "it changes users"),
  danger(`\\bkill ${OPTIONS}-1\\b`, "it ends all processes"),
  danger(/\b(?:insmod|rmmod|modprobe)\s/, "it changes the kernel"),
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
  const simple = simplified(command);
  return DANGERS.find((one) => isThere(one, simple))?.reason;
}

/** @property line from 0 */
type MarkedLine = { line: number; why: string };

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
    const why = dangerIn(whole);
    if (why !== undefined) marked.push({ line: from, why });
  }
  // It stands in several lines, or beyond those that are judged.
  const why = marked.length === 0 ? dangerIn(script) : undefined;
  return why === undefined ? marked : [{ line: 0, why }];
}
