/**
 * Checks a command before it runs. A plainly dangerous command, or one that reaches outside the workspace, asks or is
 * refused. This helps an honest model and the person who approves. It is not a security boundary, since there is always
 * another spelling; the sandbox is the boundary.
 */

export type GuardRules = {
  /** The workspace; absolute paths outside it are reported. Absent = paths are not checked. */
  root?: string;
  /** Further allowed paths. */
  readable?: readonly string[];
  /** The owner's regular expressions, in addition to the built-in ones; `guardRules` has checked them. */
  deny?: readonly RegExp[];
  /** Channels from which commands are accepted; absent = all. */
  channels?: readonly string[];
};

export type Judgement = { verdict: "allowed" } | { verdict: "blocked"; reason: string };

const ALLOWED: Judgement = { verdict: "allowed" };

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

/** Harmless devices that many commands name. */
const SAFE_DEVICES = /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd\/\d+)$/;
/** Programs named by their full path are not files to read. */
const PROGRAM_FOLDERS = /^\/(?:usr\/(?:local\/)?)?s?bin\/[\w.+-]+$/;

/** @param channel the caller's channel, never one from the arguments */
export function judgeCommand(command: string, rules: GuardRules, channel?: string): Judgement {
  if (rules.channels && !rules.channels.includes(channel ?? ""))
    return blocked("commands are not run for this channel");
  const simple = simplified(command);
  const found = DANGERS.find((one) => isThere(one, simple));
  if (found) return blocked(found.reason);
  for (const pattern of rules.deny ?? [])
    if (pattern.test(command))
      return blocked(`it matches '${pattern.source}', which this device's settings name`);
  return rules.root === undefined ? ALLOWED : judgePaths(command, rules.root, rules.readable ?? []);
}

/** Compiles the owner's patterns. @throws SyntaxError for an invalid one, so that no intended guard is skipped */
export function guardRules(patterns: readonly string[]): RegExp[] {
  return patterns.map((pattern) => new RegExp(pattern, "u"));
}

function judgePaths(command: string, root: string, readable: readonly string[]): Judgement {
  if (/file:\/\//i.test(command) && !command.includes(`file://${root}/`))
    return blocked("it names a file outside the workspace");
  // Host names and what follows them are not paths; the rest of the command is still checked.
  const withoutUrls = command.replaceAll(/\b(?!file:)[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'`;|&<>()]+/gi, " ");
  if (/(?:^|[\s"'=:/])(?:\.{2,}\/|\.\.(?:$|[\s"';|&)]))/.test(withoutUrls))
    return blocked("it names a folder above the workspace ('..')");
  for (const path of absolutePaths(withoutUrls)) {
    const plain = path.replaceAll(/\/+/g, "/").replace(/(.)\/$/, "$1");
    const fine =
      plain === root ||
      plain.startsWith(`${root}/`) ||
      /^\/tmp(?:\/|$)/.test(plain) ||
      readable.includes(plain) ||
      SAFE_DEVICES.test(plain) ||
      PROGRAM_FOLDERS.test(plain);
    if (!fine) return blocked(`it names '${path}', which is outside the workspace`);
  }
  return ALLOWED;
}

/**
 * Returns words that begin with `/`, also after `--file=` or joined to an option (`-I/usr`). A slash within a relative path
 * does not count, nor does a single slash, which is a division.
 */
function absolutePaths(command: string): string[] {
  const found = command.matchAll(/(?:^|[\s"'`=:<>|&;(,]|(?<=[\s"'])-[A-Za-z]{1,30})(\/[^\s"'`;|&<>(),]+)/g);
  return [...found].flatMap((match) => match[1] ?? []);
}

function blocked(reason: string): Judgement {
  return { verdict: "blocked", reason };
}
