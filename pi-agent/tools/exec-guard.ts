/**
 * Looks at a command before it is run: what is plainly dangerous or reaches outside the workspace is asked
 * about or refused. A courtesy to an honest model and a hint to the person who approves, never a boundary: there
 * is always another spelling. The boundary is the sandbox.
 */

export type GuardRules = {
  /** The workspace; absolute paths outside it are noticed. Absent: paths are not looked at. */
  root?: string;
  /** Further paths that may be named. */
  readable?: readonly string[];
  /** Regular expressions of the owner's, beside the built-in ones; checked by `guardRules`. */
  deny?: readonly RegExp[];
  /** Channels from which commands may come at all; absent: all. */
  channels?: readonly string[];
};

export type Judgement = { verdict: "allowed" } | { verdict: "blocked"; reason: string };

const ALLOWED: Judgement = { verdict: "allowed" };

/** Where a word of a command may begin: at its start, after a separator, or in `sudo` and the like. */
const AT = String.raw`(?:^|[;&|({\n]|\$\(|\x60|\b(?:sudo|doas|exec|env|nohup|xargs|then|do|else)\s)\s*`;

const DANGERS: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /\brm\s+(?:-[\w-]+\s+)*-(?:\w*[rR]|-recursive)[\w-]*\s+(?:-[\w-]+\s+)*["']?(?:\/|~|\*|\.\.?\/?(?:\s|$))/,
    "it deletes folders with all that is in them",
  ],
  [
    /\brm\s+(?:-[\w-]+\s+)*(?:-\w*[rR]\w*f|-\w*f\w*[rR]|-[rR]\s+-f|-f\s+-[rR])/,
    "it deletes folders without asking",
  ],
  [/\bfind\b[^;&|\n]*\s-delete\b/, "it deletes what it finds"],
  [
    />\s*\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|loop|md|nbd|dm-|mapper|mtd|ram|zram|sr|disk)/,
    "it writes to a disk itself",
  ],
  [/\bof=\/dev\/(?!null\b|zero\b|stdout\b|stderr\b)/, "it writes to a device"],
  [
    new RegExp(`${AT}(?:mkfs(?:\\.\\w+)?|wipefs|fdisk|sfdisk|parted|blkdiscard|shred)\\b`),
    "it changes disks",
  ],
  [
    new RegExp(`${AT}(?:shutdown|reboot|poweroff|halt|telinit|init\\s+[06])\\b`),
    "it turns the device off or on again",
  ],
  [
    /\bsystemctl\s+(?:-\S+\s+)*(?:stop|disable|mask|kill|isolate|reboot|poweroff|halt|edit|set-default)\b/,
    "it stops services",
  ],
  [/:\s*\(\s*\)\s*\{.*\|.*&\s*\}\s*;/, "it starts processes without end"],
  [/\b(?:curl|wget)\b[^;&\n]*\|\s*(?:sudo\s+)?(?:ba|da|z|k|a)?sh\b/, "it runs a program from the web"],
  [/\bcrontab\s+(?:-\S+\s+)*-r\b/, "it deletes all scheduled tasks"],
  [/\bchmod\s+(?:-\S+\s+)*(?:-R|--recursive)\s+\S*\s*\//, "it changes the rights of the system's files"],
  [/\bchown\s+(?:-\S+\s+)*(?:-R|--recursive)\s/, "it gives files away"],
  [new RegExp(`${AT}(?:sudo|doas|su)\\b`), "it acts as another user"],
  [/\bgit\s+push\b[^;&|\n]*(?:\s--force|\s-f\b)/, "it overwrites another repository's history"],
  [/\b(?:iptables|ip6tables|nft|ufw)\s/, "it changes the firewall"],
  [new RegExp(`${AT}(?:passwd|useradd|userdel|usermod|visudo)\\b`), "it changes users"],
  [/\bkill\s+(?:-\S+\s+)*-1\b/, "it ends all processes"],
  [/\b(?:insmod|rmmod|modprobe)\s/, "it changes the kernel"],
];

/** Harmless, and named in half of all commands. */
const SAFE_DEVICES = /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd\/\d+)$/;
/** Programs by their full name are no files to read. */
const PROGRAM_FOLDERS = /^\/(?:usr\/(?:local\/)?)?s?bin\/[\w.+-]+$/;

/** @param channel where the call came from: of the caller, never of its arguments */
export function judgeCommand(command: string, rules: GuardRules, channel?: string): Judgement {
  if (rules.channels && !rules.channels.includes(channel ?? ""))
    return blocked("commands are not run for this channel");
  for (const [pattern, reason] of DANGERS) if (pattern.test(command)) return blocked(reason);
  for (const pattern of rules.deny ?? [])
    if (pattern.test(command))
      return blocked(`it matches '${pattern.source}', which this device's settings name`);
  return rules.root === undefined ? ALLOWED : judgePaths(command, rules.root, rules.readable ?? []);
}

/** The owner's patterns. @throws SyntaxError for one that is none: a guard that was meant must not be left out */
export function guardRules(patterns: readonly string[]): RegExp[] {
  return patterns.map((pattern) => new RegExp(pattern, "u"));
}

function judgePaths(command: string, root: string, readable: readonly string[]): Judgement {
  if (/file:\/\//i.test(command) && !command.includes(`file://${root}/`))
    return blocked("it names a file outside the workspace");
  // Names of hosts and what follows them are no paths; the rest of the command is looked at all the same.
  const withoutUrls = command.replaceAll(/\b(?!file:)[a-z][a-z0-9+.-]*:\/\/[^\s"'`;|&<>()]+/gi, " ");
  if (/(?:^|[\s"'=:/])\.{2,}(?:\/|$|[\s"';|&)])/.test(withoutUrls))
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
 * Words that begin with `/`, also behind `--file=`, and behind an option they are joined to (`-I/usr`). A slash
 * within a relative path begins none, nor does one alone: it divides.
 */
function absolutePaths(command: string): string[] {
  const found = command.matchAll(/(?:^|[\s"'`=:<>|&;(,]|(?<=[\s"'])-[A-Za-z]+)(\/[^\s"'`;|&<>(),]+)/g);
  return [...found].flatMap((match) => match[1] ?? []);
}

function blocked(reason: string): Judgement {
  return { verdict: "blocked", reason };
}
