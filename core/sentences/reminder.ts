/** Sentences with a text of the person's own behind their head: reminders, timers, and "ask the model: …". Pure. */

import { compose } from "./compose.ts";
import { costs, covers, type Spans } from "./cover.ts";
import type { Frame, When } from "./frame.ts";
import type { Item, Role } from "./roles.ts";
import type { Word } from "./words.ts";

const TIMES: ReadonlySet<Role> = new Set<Role>([
  ..."filler in a at for after every days daily part span minutes oclock time number half and".split(" "),
] as Role[]);

export type Head = { role: "remind" | "timer" | "model"; from: number; to: number };

const HEADS: ReadonlySet<Role> = new Set<Role>(["remind", "timer", "model"]);

/** @returns the head of the sentence, behind polite words and a time */
export function headOf(spans: Spans): Head | undefined {
  for (const [from, at] of spans.entries()) {
    const heads = at.filter(({ meanings }) => HEADS.has(meanings[0]?.role ?? "filler"));
    const head = heads.toSorted((a, b) => b.to - a.to)[0];
    const role = head?.meanings[0]?.role;
    if (head && (role === "remind" || role === "timer" || role === "model"))
      return { role, from, to: head.to };
  }
  return undefined;
}

/** @returns undefined where what stands before the head is neither polite nor a time, or a time is missing */
export function headedFrame(
  head: Head,
  words: readonly Word[],
  spans: Spans,
  text: string,
): Frame | undefined {
  const end = words.length;
  const textOf = (from: number, to: number): string =>
    text
      .slice(words[from]?.from ?? text.length, words[to - 1]?.to ?? 0)
      .replace(/^[\s,，、:："“„«「]+|[\s"”“»」]+$/gu, "")
      .trim();
  const isPolite = covered(spans, head.from, POLITE);
  if (head.role === "model") {
    const asked = text.slice(words[head.to]?.from ?? text.length).trim();
    return asked === "" || !isPolite ? undefined : { kind: "model", text: asked };
  }
  const times = only(spans, TIMES);
  const earlier = isPolite ? undefined : whenOf(times, [[0, head.from]]);
  if (!isPolite && earlier === undefined) return undefined;
  const frame = (when: When, from: number, to: number): Frame => ({
    kind: "remind",
    when,
    text: textOf(from, to),
  });
  if (head.role === "timer") {
    const when =
      earlier === undefined ? whenOf(times, [[head.to, end]]) : head.to === end ? earlier : undefined;
    return when && { kind: "remind", when, text: "" };
  }
  const afterThat = (from: number): number => {
    const that = (spans[from] ?? []).filter(({ meanings }) => meanings.every(({ role }) => role === "that"));
    return Math.max(from, ...that.map((span) => span.to));
  };
  if (earlier) return frame(earlier, afterThat(head.to), end);
  const trailing = (from: number): number => {
    for (let at = from; at < end; at += 1) if (whenOf(times, [[at, end]])) return at;
    return end;
  };
  for (let at = end; at > head.to; at -= 1) {
    const when = whenOf(times, [[head.to, at]]);
    if (when === undefined) continue;
    const from = afterThat(at);
    const last = "every" in when ? trailing(from) : end;
    const both =
      last < end && last > from
        ? whenOf(times, [
            [head.to, at],
            [last, end],
          ])
        : undefined;
    return frame(both ?? when, from, both ? last : end);
  }
  const from = afterThat(head.to);
  const last = trailing(from);
  const when = last > from && last < end ? whenOf(times, [[last, end]]) : undefined;
  return when && frame(when, from, last);
}

const POLITE: ReadonlySet<Role> = new Set<Role>(["filler", "request"]);

function only(spans: Spans, roles: ReadonlySet<Role>): Spans {
  return spans.map((at) => at.filter(({ meanings }) => meanings.every(({ role }) => roles.has(role))));
}

function covered(spans: Spans, end: number, roles: ReadonlySet<Role>): boolean {
  return Number.isFinite(costs(only(spans.slice(0, end), roles), end)[0]);
}

/** @returns the one time that the stretches say together */
function whenOf(times: Spans, stretches: ReadonlyArray<readonly [number, number]>): When | undefined {
  const found: When[] = [];
  const steps = { left: 200 };
  const walk = (rest: typeof stretches, before: readonly Item[]): void => {
    const [first, ...others] = rest;
    if (first === undefined) {
      const [item, more] = compose(before) ?? [];
      if (more !== undefined || item === undefined) return;
      if (item.role === "when") found.push(item.value);
      if (item.role === "hold") found.push({ in_minutes: item.value });
      return;
    }
    const least = costs(times, first[1]);
    const cost = least[first[0]] ?? Number.POSITIVE_INFINITY;
    for (let more = 0; more < 2 && Number.isFinite(cost) && found.length === 0; more += 1)
      covers(times, first, cost + more, least, steps, (items) => walk(others, [...before, ...items]));
  };
  walk(stretches, []);
  return found[0];
}
