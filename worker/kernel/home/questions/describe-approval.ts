/**
 * What a person is shown of an approval: the sentence, who asked, and the words of the buttons. All of it is made here, of the very
 * parameters that are hashed and run, in the language of the conversation. Nothing of it comes from the device that asks.
 */
import { kindOf } from "@edgecall/core/agents/kinds.ts";
import { markedLines } from "@edgecall/core/approvals/dangers.ts";
import { type AskedCall, describeCall, type Sentence } from "@edgecall/core/approvals/sentence.ts";
import { slotText } from "@edgecall/core/approvals/slot-text.ts";
import type { KindWord } from "@edgecall/core/phrases/languages/phrase-data.ts";
import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { reportedText } from "@edgecall/core/phrases/reported-text.ts";
import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { isObject } from "@edgecall/core/protocol/is-object.ts";
import type { ActionAdvert, Caller } from "@edgecall/core/protocol/mqtt.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import type { ApprovalCard } from "../../api/answers.ts";
import { GATEWAY_AGENT } from "../../api/audit.ts";
import type { NewQuestion, Question } from "../../api/questions.ts";
import { phrasesOf } from "../../phrases.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import type { HomeContext } from "../context.ts";
import { deviceStatesOf } from "../devices/device-states.ts";
import { isShown } from "../devices/reading-text.ts";
import { type Asker, type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { personName } from "../people/person-name.ts";

type Shown = Pick<NewQuestion, "agent"> & { approval: NonNullable<NewQuestion["approval"]> };

/** Who asked for a call. @property language of the conversation; absent: English @property readings what the device reported last */
type AskedBy = {
  caller: Caller;
  asker?: Asker | null;
  language?: Language | undefined;
  readings?: readonly Reading[] | undefined;
};

/** The call of a question, as a sentence has it. @property path where its parameters are in those of the approval */
type Read = AskedCall & { path: string[]; advert: ActionAdvert | undefined; hasMore: boolean };

/** Of one call. */
export function describeApproval(
  home: HomeContext,
  shown: Shown,
  by: AskedBy,
): { text: string; card: ApprovalCard } {
  const phrases = phrasesOf(by.language);
  const call = readCall(home, shown);
  const own = shown.agent === GATEWAY_AGENT ? ownSentence(call, phrases) : undefined;
  const sentence = own ?? describeCall(call, phrases);
  const { shows, verb } = sentence;
  const script = shows === "command" ? String(call.parameters[shows]) : undefined;
  const marks = script === undefined ? [] : markedLines(script);
  const isDangerous =
    shown.approval.danger === true ||
    marks.length > 0 ||
    script !== undefined ||
    call.advert?.danger === true ||
    call.advert?.effect === "exec";
  const { unread } = shown.approval;
  return {
    text: sentence.ask(slotText(call.name, phrases)),
    card: {
      verb,
      decline: phrases.say("decline"),
      ...(unread && { accept: phrases.say("alsoAccept", { verb }) }),
      ...askerTexts(home, by, phrases),
      facts: [...stateFact(by.readings ?? [], call, phrases), ...factsOf(home, shown, phrases)],
      ...(isDangerous && { danger: true }),
      ...(shows !== undefined && { shows: [...call.path, shows] }),
      ...(marks.length > 0 && { marks: marks.map(({ line, why }) => ({ line, why: phrases.say(why) })) }),
      ...((sentence.isPartial || call.hasMore) && { partial: true }),
    },
  };
}

/** Of several calls that are decided by one answer. */
export function describeTogether(
  home: HomeContext,
  members: ReadonlyArray<Question & Shown>,
): { text: string; card: ApprovalCard } {
  const [first] = members;
  if (!first) throw new Error("no approval to describe");
  const phrases = phrasesOf(languageOf(ledgerOf(home).get(first.call)));
  const calls = members.map((one) => readCall(home, one));
  const sentences = calls.map((call) => describeCall(call, phrases));
  const [sentence] = sentences;
  const count = members.length;
  const areAlike =
    sentence !== undefined &&
    sentences.every(({ same }) => same === sentence.same) &&
    calls.every(({ hosted }) => hosted) &&
    new Set(members.map(({ agent }) => agent)).size === count;
  const things = phrases.say("countedKind", { count, kind: phrases.kind(kindFor(home, members), count) });
  const cards = members.flatMap(({ approval }) => approval.card ?? []);
  const isOneVerb = new Set(cards.map(({ verb }) => verb)).size === 1;
  const verb = (isOneVerb ? cards[0]?.verb : undefined) ?? phrases.say("verbRun");
  const hasUnread = members.some(({ approval }) => approval.unread);
  return {
    text: areAlike ? sentence.ask(things) : askCalls(members, calls, phrases),
    card: {
      verb,
      decline: phrases.say("declineAll"),
      ...(hasUnread && { accept: phrases.say("alsoAccept", { verb }) }),
      asker: cards[0]?.asker ?? "",
      ...(cards[0]?.own && { own: cards[0].own }),
      facts: [],
      ...(cards.some(({ danger }) => danger) && { danger: true }),
      ...(!(areAlike && cards.every(({ partial }) => !partial)) && { partial: true }),
    },
  };
}

/** Names the device when it is one. */
function askCalls(members: readonly Shown[], [first]: readonly Read[], phrases: Phrases): string {
  const count = members.length;
  const isOne = new Set(members.map(({ agent }) => agent)).size === 1;
  return first && isOne
    ? phrases.say("askCallsOn", { count, name: slotText(first.name, phrases) })
    : phrases.say("askCalls", { count });
}

/** The language in which a call was asked for. */
export function languageOf(call: LedgerCall | undefined): Language | undefined {
  return call?.flags.language;
}

/** What Home sends as `tool` or `prompt` is read as the call that it is. */
function readCall(home: HomeContext, { agent, approval }: Shown): Read {
  const { tool, parameters } = approval;
  const target = rosterOf(home).target(agent, Date.now());
  const device = hostedDevicesOf(home).get(agent);
  const name = device?.setting?.name ?? device?.hosted.name ?? agent;
  const isPayload = tool === "tool" && typeof parameters.tool === "string" && isObject(parameters.parameters);
  const action = isPayload ? String(parameters.tool) : tool;
  const advert = target?.adverts.find((one) => one.name === action);
  const common = { name, action, hosted: device !== undefined, schema: advert?.parameters, advert };
  const isMore = (...known: string[]) => Object.keys(parameters).some((one) => !known.includes(one));
  if (isPayload) {
    // SAFETY: checked above.
    const own = parameters.parameters as Record<string, unknown>;
    return {
      ...common,
      parameters: own,
      path: ["parameters"],
      hasMore: isMore("tool", "parameters", "timeout_ms"),
    };
  }
  if (tool === "prompt" && "prompt" in parameters) {
    const { enable_tools: _, ...own } = parameters;
    return { ...common, parameters: own, path: [], hasMore: false };
  }
  return { ...common, parameters, path: [], hasMore: false };
}

/** A call that Home runs itself. */
function ownSentence({ action }: Read, phrases: Phrases): Sentence | undefined {
  const made = (text: string, verb: string) => ({ ask: () => text, same: action, verb, isPartial: true });
  switch (action) {
    case "watch":
      return made(phrases.say("askWatch"), phrases.capital(phrases.act("start")));
    case "remind":
      return made(phrases.say("askRemind"), phrases.capital(phrases.act("set")));
    case "rules":
      return made(phrases.say("askRule"), phrases.say("verbChange"));
    default:
      return undefined;
  }
}

/** Channels of front doors by which a person asks. */
const CONSOLE = new Set(["api", "ask"]);
/** Front doors of programs. */
const PROGRAMS = new Set(["mcp", "openai"]);

function askerTexts(
  home: HomeContext,
  { caller, asker }: AskedBy,
  phrases: Phrases,
): Pick<ApprovalCard, "asker" | "own"> {
  const { principal, channel, chain } = caller;
  // A platform's id stands alone where it gave no name: the way is told beside it.
  const id = principal.startsWith(`${channel}:`) ? principal.slice(channel.length + 1) : principal;
  const who = slotText(personName(home, principal, undefined) ?? id, phrases);
  const both = (text: string, own: string) => ({ asker: text, own: { principal, text: own, name: who } });
  if (asker?.by === "home") return { asker: phrases.say("askedHome", { who }) };
  if (asker?.by === "rule") return { asker: phrases.say("askedBy", { who: slotText(asker.name, phrases) }) };
  if (chain && chain.via.length > 0) {
    const device = slotText(chain.via.join(" → "), phrases);
    return both(phrases.say("askedDevice", { device, who }), phrases.say("youAskedDevice", { device }));
  }
  if (PROGRAMS.has(channel))
    return both(phrases.say("askedProgram", { who }), phrases.say("youAskedProgram"));
  if (CONSOLE.has(channel) || channel === "gateway")
    return both(phrases.say("askedBy", { who }), phrases.say("youAsked"));
  const over = phrases.capital(slotText(channel, phrases));
  return both(
    phrases.say("askedOver", { who, channel: over }),
    phrases.say("youAskedOver", { channel: over }),
  );
}

/** A person waits for the question meanwhile. */
const STATE_WITHIN_MS = 300;
const READINGS_SHOWN = 2;

/** What a device of the broker reported last; the bridge answers from its memory. @returns undefined: it is not known in time */
export async function readingsNow(home: HomeContext, agent: string): Promise<readonly Reading[] | undefined> {
  if (!hostedDevicesOf(home).get(agent)) return undefined;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), STATE_WITHIN_MS);
  const states = await Promise.race([deviceStatesOf(home).ask([agent], false), promise]);
  clearTimeout(timer);
  return states?.get(agent)?.readings;
}

/** "on, Power 412 W", as it was then: a question may wait, and the state may change. Free text is left out: its writer may be anybody. */
function stateFact(readings: readonly Reading[], call: AskedCall, phrases: Phrases): ApprovalCard["facts"] {
  const shown = readings.filter((one) => isShown(one) && !one.unavailable).slice(0, READINGS_SHOWN);
  if (shown.length === 0) return [];
  const reported = shown.flatMap(({ name, value, unit, kind, class: of }) =>
    value === null
      ? []
      : [
          {
            // Words say what they are about; a number does not.
            ...(typeof value === "number" && { label: name }),
            value,
            ...(unit !== undefined && { unit }),
            kind,
            ...(of !== undefined && { class: of }),
          },
        ],
  );
  const value = visible(reportedText(reported, phrases));
  const text = isSoAlready(call, readings) ? phrases.say("alreadySo", { value }) : value;
  return [{ label: phrases.say("factWhenAsked"), text }];
}

/** What a lock, or a device that opens, reports after an action that has no values. */
const STATES_AFTER: Readonly<Record<string, string>> = {
  lock: "locked",
  unlock: "unlocked",
  open: "open",
  close: "closed",
};
const SWITCHED = ["switch", "light", "fan"];

/** True if the device reports already what the call would make of it. A device with several such parts is not judged. */
function isSoAlready({ action, parameters }: AskedCall, readings: readonly Reading[]): boolean {
  const names = Object.keys(parameters);
  const isSwitch = action === "set" && names.length === 1 && typeof parameters.on === "boolean";
  const after = isSwitch ? parameters.on : names.length === 0 ? STATES_AFTER[action] : undefined;
  const parts = readings.filter(({ kind }) =>
    isSwitch ? SWITCHED.includes(kind) : ["lock", "cover", "valve"].includes(kind),
  );
  const [part] = parts;
  return after !== undefined && parts.length === 1 && !part?.unavailable && part?.value === after;
}

function factsOf(home: HomeContext, { agent, approval }: Shown, phrases: Phrases): ApprovalCard["facts"] {
  const device = hostedDevicesOf(home).get(agent);
  const area = device?.setting?.area ?? device?.hosted.area;
  return [
    ...(area === undefined ? [] : [{ label: phrases.say("factPlace"), text: slotText(area, phrases) }]),
    ...(approval.cwd === undefined
      ? []
      : [{ label: phrases.say("factFolder"), text: slotText(approval.cwd, phrases) }]),
  ];
}

/** Words for kinds of things, where core/agents/kinds.ts has another one. */
const KINDS: Readonly<Partial<Record<ReturnType<typeof kindOf>, KindWord>>> = {
  light: "light",
  plug: "plug",
  blind: "blind",
  lock: "lock",
  heating: "heating",
  ventilation: "fan",
  media: "media_player",
  alarm: "alarm",
  pump: "pump",
};

/** One word for all of them. */
function kindFor(home: HomeContext, members: readonly Shown[]): KindWord {
  const kinds = new Set(
    members.map(({ agent }) => {
      const target = rosterOf(home).target(agent, Date.now());
      return target && KINDS[kindOf({ id: target.id, line: target.line, actions: target.adverts })];
    }),
  );
  const [kind] = kinds;
  return kinds.size === 1 && kind ? kind : "device";
}
