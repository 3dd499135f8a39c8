/** Judges a history: the questions, the answers, and the effects on the devices. Pure. */
import type { SeenCall, SeenTurn } from "./client.ts";
import {
  type AskedTurn,
  type Effects,
  type History,
  leavesOf,
  seenAt,
  type Violation,
  type ViolationKind,
} from "./history.ts";
import { answerMark, jobEnd, placeOf, questionOf, TOLD_MARK } from "./model.ts";
import { callsOf, type PlacedCall } from "./plan.ts";
import { judgeRecords } from "./record-verdict.ts";

export function judge(history: History): Violation[] {
  const effects = effectsByPlace(history.effects);
  return [
    ...history.turns.flatMap((turn) => judgeTurn(turn, effects)),
    ...judgeConversations(history),
    ...judgeEffects(history),
    ...judgeRecords(history, effects),
    ...history.breaches.map((what): Violation => ({ kind: "history", what })),
    ...history.died.map((what): Violation => ({ kind: "died", what })),
  ];
}

function effectsByPlace(lines: History["effects"]): Effects {
  const effects = new Map<string, string[]>();
  for (const { place, id } of [...lines.values()].flat())
    effects.set(place, [...(effects.get(place) ?? []), id]);
  return effects;
}

function judgeTurn(turn: AskedTurn, effects: Effects): Violation[] {
  const { key, asked, looks, script } = turn;
  const found: Violation[] = [];
  const say = (kind: ViolationKind, what: string) => found.push({ kind, turn: key, what });
  for (const what of asked.faults) say("client", what);
  if (asked.turns.length > 1) say("again", `one key became ${asked.turns.length} turns: ${asked.turns}`);
  const planned = callsOf(script);
  for (const { place, agent } of planned.flatMap(leavesOf)) {
    const times = effects.get(place)?.length ?? 0;
    if (times > 1) say("twice", `${place} ran ${times} times on ${agent}`);
  }
  const { answer } = asked;
  if (!answer) {
    say("lost", `no answer within ${Math.round(asked.ms / 1_000)} s`);
    return found;
  }
  for (const seen of looks) {
    if (!seen) say("lost", "it was answered, and is not there any more");
    else for (const what of differences(answer, seen)) say("again", what);
  }
  if (answer.status === "done") {
    if (!answer.answer?.startsWith(answerMark(script.turn)))
      say("wrong", `the answer is '${answer.answer?.slice(0, 120)}'`);
    const called = answer.calls.map((call) => call.agent).join(", ");
    const wanted = planned.map((call) => call.agent).join(", ");
    const shown = planned.every((call) => seenAt(call, answer.calls));
    if (called !== wanted || !shown) say("wrong", `called were ${called}, the script has ${wanted}`);
    for (const call of planned) {
      const seen = seenAt(call, answer.calls);
      if (seen?.status === "success" && !hasResult(answer.answer ?? "", call, effects))
        say("wrong", `the answer does not have the result of ${call.place}`);
    }
  } else if (!answer.answer) say("lost", `it ended as '${answer.status}' without words`);
  // The last known state counts, because an unknown outcome may have become known.
  const last = looks.findLast((seen) => seen !== undefined) ?? answer;
  const atFirst = judgeCalls(planned, answer.calls, effects).filter(({ kind }) => kind === "claimed");
  const atLast = judgeCalls(planned, last.calls, effects);
  for (const { kind, what } of [...atLast, ...atFirst])
    if (!found.some((one) => one.what === what)) say(kind, what);
  for (const call of planned) {
    const seen = seenAt(call, last.calls);
    if (call.does === "job" && seen && isAccepted(seen))
      say("told", `the end of the job of ${call.place} never came`);
  }
  return found;
}

/** A job that goes on. */
function isAccepted({ status, result }: SeenCall): boolean {
  return status === "success" && result?.startsWith("Accepted: ") === true;
}

function hasResult(answer: string, { place, does }: PlacedCall, effects: Effects): boolean {
  if (typeof does === "object") return answer.includes(answerMark(place));
  // A job that ends while its turn runs takes the place of the acceptance, for the model or only for whoever looks later.
  if (does === "job") return answer.includes("Accepted: ") || answer.includes(jobEnd(place));
  // A success without an effect is another violation.
  return effects.get(place)?.some((id) => answer.includes(`appended ${id}`)) ?? true;
}

type Found = { kind: ViolationKind; what: string };

function judgeCalls(planned: readonly PlacedCall[], seen: readonly SeenCall[], effects: Effects): Found[] {
  return planned.flatMap((call) => {
    const one = seenAt(call, seen);
    return one ? judgeCall(call, one, effects) : [];
  });
}

function judgeCall(call: PlacedCall, seen: SeenCall, effects: Effects): Found[] {
  const { place, agent, does } = call;
  const text = (seen.error ?? seen.result ?? "").slice(0, 160);
  if (seen.status === "pending") return [{ kind: "open", what: `${place} has no outcome` }];
  if (typeof does === "object") return judgeAsked(callsOf(does), seen, text, effects);
  const hasRun = effects.has(place);
  if (seen.status === "success")
    return hasRun || isAccepted(seen) ? [] : [{ kind: "claimed", what: `${place} on ${agent}: '${text}'` }];
  if (seen.error_type === "outcome_unknown" || !hasRun) return [];
  return [{ kind: "denied", what: `${place} ran, and it was said (${seen.error_type}): '${text}'` }];
}

/** An agent was asked in words: what it says of its own calls is held to the same rules. */
function judgeAsked(inner: readonly PlacedCall[], seen: SeenCall, text: string, effects: Effects): Found[] {
  const shown = seen.calls ?? [];
  const hidden = inner.filter((call) => !seenAt(call, shown));
  const found = judgeCalls(inner, shown, effects);
  if (seen.status === "success")
    return [
      ...found,
      ...hidden.map(({ place }): Found => ({ kind: "wrong", what: `the agent's own calls lack ${place}` })),
    ];
  if (seen.error_type === "outcome_unknown") return found;
  const ran = hidden.flatMap(leavesOf).filter(({ place }) => effects.has(place));
  return [
    ...found,
    ...ran.map(
      ({ place }): Found => ({
        kind: "denied",
        what: `${place} ran, and of the call before it was said (${seen.error_type}): '${text}'`,
      }),
    ),
  ];
}

/** Returns the differences between two looks at a finished turn. Only a late result may change anything. */
function differences(first: SeenTurn, later: SeenTurn): string[] {
  const found: string[] = [];
  for (const field of ["turn", "status", "answer"] as const) {
    if (first[field] !== later[field])
      found.push(
        `${field}: first '${String(first[field]).slice(0, 160)}', then '${String(later[field]).slice(0, 160)}'`,
      );
  }
  const ids = (turn: SeenTurn) => turn.calls.map((call) => call.id).join(", ");
  if (ids(first) !== ids(later)) found.push(`calls: first ${ids(first)}, then ${ids(later)}`);
  for (const call of first.calls) {
    const then = later.calls.find(({ id }) => id === call.id);
    const mayChange = call.error_type === "outcome_unknown" || isAccepted(call);
    if (then && !mayChange && then.status !== call.status)
      found.push(`call ${call.id}: first ${call.status}, then ${then.status}`);
  }
  return found;
}

/** The gateway has one turn for each key, one for the end of each job that was accepted, and no other turns. */
function judgeConversations({ turns, conversations }: History): Violation[] {
  const found: Violation[] = [];
  for (const [name, stored] of conversations) {
    const asked = turns.filter((turn) => turn.conversation === name);
    const begun = stored.filter(({ text }) => text === "");
    const texts = stored.map(({ text }) => text).filter((text) => text !== "");
    for (const { key, script } of asked) {
      const times = texts.filter((text) => text === questionOf(script)).length;
      if (times === 0) found.push({ kind: "lost", turn: key, what: `conversation ${name} does not have it` });
      if (times > 1)
        found.push({ kind: "again", turn: key, what: `conversation ${name} has it ${times} times` });
    }
    if (texts.length > asked.length)
      found.push({
        kind: "stray",
        what: `conversation ${name}: ${texts.length} turns, ${asked.length} asked`,
      });
    found.push(...judgeTold(name, asked, begun));
  }
  return found;
}

/** @param begun turns that no client asked */
function judgeTold(name: string, asked: readonly AskedTurn[], begun: readonly SeenTurn[]): Violation[] {
  const jobs = asked.flatMap(({ key, script, asked: { answer }, looks }) =>
    callsOf(script)
      .filter(({ does }) => does === "job")
      .map((call) => ({
        key,
        place: call.place,
        first: seenAt(call, answer?.calls ?? []),
        last: seenAt(call, looks.findLast((seen) => seen !== undefined)?.calls ?? []),
      })),
  );
  const [job] = jobs;
  if (jobs.length > 1)
    throw new Error(`conversation ${name} has ${jobs.length} jobs: the plan has at most one`);
  if (!job)
    return begun.map(({ turn }) => ({
      kind: "stray",
      what: `conversation ${name}: turn ${turn} began by itself`,
    }));
  const { key, place, first, last } = job;
  const found: Violation[] = [];
  // A call that did not succeed may have begun a job, whose end is told then.
  const wasAccepted = first?.status === "success";
  if (begun.length > 1 || (wasAccepted && begun.length === 0))
    found.push({
      kind: "told",
      turn: key,
      what: `the end of the job of ${place} was told ${begun.length} times`,
    });
  for (const { status, answer } of begun) {
    const isTold = status === "done" && answer?.startsWith(TOLD_MARK) === true;
    if (!isTold || (last?.status === "success" && !answer.includes(jobEnd(place))))
      found.push({
        kind: "wrong",
        turn: key,
        what: `the end of the job of ${place}: (${status}) '${answer?.slice(0, 160)}'`,
      });
  }
  return found;
}

/** Every effect is of a planned call, on the agent that was called, and under the id that the turn has. */
function judgeEffects({ turns, conversations, effects }: History): Violation[] {
  const stored = [...conversations.values()].flat();
  const seen = [...stored, ...turns.flatMap(({ asked, looks }) => [asked.answer, ...looks])];
  const ids = idsByPlace(seen.flatMap((turn) => turn?.calls ?? []));
  const planned = new Map(
    turns.flatMap(({ script }) => callsOf(script).flatMap(leavesOf)).map((call) => [call.place, call]),
  );
  const found: Violation[] = [];
  for (const [agent, lines] of effects) {
    for (const { place, id } of lines) {
      const call = planned.get(place);
      const shown = ids.get(place);
      if (!call) found.push({ kind: "stray", what: `${agent} ran ${place}, which no turn has` });
      else if (call.agent !== agent)
        found.push({ kind: "stray", what: `${agent} ran ${place}, which was for ${call.agent}` });
      // A job tells no id, and at the home that lends a call has another one.
      else if (shown && !shown.has(id) && call.does !== "job" && !agent.includes("/"))
        found.push({ kind: "stray", what: `${agent} ran ${place} as ${id}, which no turn has` });
    }
  }
  return found;
}

/** The ids of all calls by their places, also of those that agents made. */
function idsByPlace(calls: readonly SeenCall[]): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { id, args, calls: inner = [] } of calls) {
    const place = placeOf(args);
    if (place !== undefined) ids.set(place, (ids.get(place) ?? new Set()).add(id));
    for (const [at, of] of idsByPlace(inner)) ids.set(at, new Set([...(ids.get(at) ?? []), ...of]));
  }
  return ids;
}
