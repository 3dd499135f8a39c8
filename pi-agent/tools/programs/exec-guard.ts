/**
 * Checks a command before it runs. A plainly dangerous command, or one that reaches outside the workspace, asks or is
 * refused. This helps an honest model and the person who approves. It is not a security boundary, since there is always
 * another spelling; the sandbox is the boundary.
 */

import { dangerIn } from "@edgecall/core/approvals/dangers.ts";

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

/** Harmless devices that many commands name. */
const SAFE_DEVICES = /^\/dev\/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd\/\d+)$/;
/** Programs named by their full path are not files to read. */
const PROGRAM_FOLDERS = /^\/(?:usr\/(?:local\/)?)?s?bin\/[\w.+-]+$/;

/** @param channel the caller's channel, never one from the arguments */
export function judgeCommand(command: string, rules: GuardRules, channel?: string): Judgement {
  if (rules.channels && !rules.channels.includes(channel ?? ""))
    return blocked("commands are not run for this channel");
  const reason = dangerIn(command);
  if (reason !== undefined) return blocked(reason);
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
