/** Judges a season: what crossed, what was told and what the chats show. Pure. */
import type { FiringRecord, FiringViolation, FiringViolationKind, SeasonHistory } from "./history.ts";
import { isNotice, linesOf, type ToldLine } from "./lines.ts";

type Placed = ToldLine & { at?: number; where: string };

export function judgeSeason(history: SeasonHistory): FiringViolation[] {
  const { season, firings, noticed, shown } = history;
  const found: FiringViolation[] = [];
  const say = (kind: FiringViolationKind, rule: string, what: string) =>
    found.push({ kind, season, rule, what });
  const told: Placed[] = [
    ...noticed.flatMap(({ text, at, conversation }) =>
      linesOf(text).map((line) => ({ ...line, at, where: conversation })),
    ),
    ...(["telegram", "generic"] as const).flatMap((chat) =>
      shown[chat].flatMap((text) => linesOf(text).map((line) => ({ ...line, where: chat }))),
    ),
  ];
  const crossed = new Map(firings.map((one) => [one.name, one]));
  for (const line of told) {
    const wrong = wrongIn(line, crossed.get(line.rule), history);
    if (wrong !== undefined) say("invented", line.rule, `${wrong}: '${line.text}' in ${line.where}`);
  }
  for (const one of firings) {
    const lines = told.filter(({ rule }) => rule === one.name);
    const fired = lines.filter(({ says }) => says === "firing");
    const over = lines.filter(({ says }) => says === "over");
    const known = history.occurrences.get(one.name) ?? 1;
    const about = `${one.kind} in ${one.told}, ${one.fault} when it ${one.moment}`;
    if (fired.length === 0) say("lost", one.name, about);
    const isTwice = fired.length > (one.kind === "presence" ? Math.max(known, 1) : 1);
    // Telegram cannot tell repeats: see below.
    if (isTwice && one.told !== "telegram") say("twice", one.name, `${about}: ${fired.length} times`);
    if (over.length > fired.length)
      say("over", one.name, `${about}: over ${over.length} times, told ${fired.length} times`);
    const [first] = lines;
    if (first?.says === "over") say("over", one.name, `${about}: the end came before its firing`);
    if (one.kind !== "presence" && known > 1)
      say("invented", one.name, `${about}: Home has ${known} firings of it`);
  }
  return [...found, ...judgeRepeats(history)];
}

/** @returns why the line is not true */
function wrongIn(
  { says, text, at, count }: Placed,
  firing: FiringRecord | undefined,
  { brokerAway }: SeasonHistory,
): string | undefined {
  if (!firing) return "nothing of that rule crossed";
  // Without a broker no device is online.
  const crossings = [firing.crossedAt, ...(firing.kind === "presence" ? brokerAway : [])];
  if (at !== undefined && at < Math.min(...crossings)) return "it was told before it crossed";
  if (says !== "firing" || firing.kind === "reminder") return undefined;
  if (count > 1 && firing.kind !== "presence") return "it crossed once";
  const isPast = / from .* to /.test(text);
  const hasValue =
    firing.kind === "presence"
      ? text.includes("offline since")
      : new RegExp(`: ${firing.value}\\b`).test(text);
  return isPast || hasValue ? undefined : `it crossed with ${firing.value}`;
}

/** A chat that cannot tell repeats may get a message again where the answer to the one before may have been lost. */
function judgeRepeats({ season, taken, lossy }: SeasonHistory): FiringViolation[] {
  const mayBeLost = (at: number) => lossy.some(({ from, to }) => at >= from && at <= to);
  return (["telegram", "generic"] as const).flatMap((chat) => {
    const notices = taken[chat].filter(({ text }) => isNotice(text));
    return notices.flatMap(({ text, at }, n): FiringViolation[] => {
      const before = notices.slice(0, n).findLast((one) => one.text === text);
      if (!before || mayBeLost(before.at)) return [];
      const ms = Math.round(at - before.at);
      return [{ kind: "again", season, what: `${chat} was sent '${text}' again after ${ms} ms` }];
    });
  });
}
