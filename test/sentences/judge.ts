/** Whether what the reader understood is what a sentence means. */
import { devicesOf, type Home } from "./homes.ts";
import type { Act, Expected, Meaning } from "./meaning.ts";

export type Verdict = "right" | "passed" | "wrong";

/** What the reader made of a sentence. "passed": it left it to a model, or asked back. */
export type Got = Meaning | "passed";

/** `got` without an act, a rule or a change of one: it only answers. */
const onlyAnswers = (got: Got): boolean =>
  got === "passed" || "ask" in got || "list" in got || "help" in got || "clock" in got;

export function judge(expected: Expected, got: Got, home: Home): Verdict {
  if (expected === "nothing") return got === "passed" ? "right" : "wrong";
  if (expected === "either") return onlyAnswers(got) ? "right" : "wrong";
  if (expected === "no act") return got === "passed" || !("acts" in got) ? "right" : "wrong";
  if (got === "passed") return "passed";
  const all = Array.isArray(expected) ? expected : [expected];
  if (all.some((one) => same(one, got, home))) return "right";
  return asksBack(got) ? "passed" : "wrong";
}

/** Something is done by a device that was not meant. */
export function isOtherDevice(expected: Expected, got: Got, home: Home): boolean {
  if (got === "passed" || !("acts" in got)) return false;
  const wanted = [expected]
    .flat()
    .flatMap((one) => (typeof one === "object" && "acts" in one ? one.acts : []));
  return !eachThing(got.acts, home).every(({ to: [has = ""] }) =>
    eachThing(wanted, home).some(({ to: [want = ""] }) => fits(want, has, home)),
  );
}

const asksBack = (got: Meaning): boolean =>
  "acts" in got && got.acts.every(({ asksWhich = false }) => asksWhich);

function same(expected: Meaning, got: Meaning, home: Home): boolean {
  if ("acts" in expected) return "acts" in got && sameActs(expected.acts, got.acts, home);
  if ("briefing" in expected)
    return (
      "briefing" in got &&
      sameFields(expected.briefing, got.briefing) &&
      (expected.ask === undefined ||
        (expected.ask === got.ask && sameThings(expected.of ?? [], got.of ?? [], home, expected.ask)))
    );
  if ("ask" in expected)
    return (
      "ask" in got &&
      !("briefing" in got) &&
      (expected.ask === "*" || (expected.ask === got.ask && expected.is === got.is)) &&
      sameThings(expected.of, got.of, home, expected.ask)
    );
  if ("watch" in expected)
    return (
      "watch" in got &&
      (got.watch === "*" || expected.watch === got.watch) &&
      sameThings(expected.of, got.of, home, expected.watch) &&
      sameFields(expected.until, got.until)
    );
  if ("remind" in expected)
    return (
      "remind" in got &&
      sameFields(expected.remind, got.remind) &&
      (expected.text === undefined || sameWords(expected.text, got.text ?? ""))
    );
  if ("list" in expected) return "list" in got && expected.list === got.list;
  if ("cancel" in expected)
    return "cancel" in got && expected.cancel === got.cancel && expected.which === got.which;
  if ("clock" in expected) return "clock" in got && expected.clock === got.clock;
  return "help" in got;
}

/** Each act of one device, in any order: "a and b off" is one act or two. */
function sameActs(expected: Act[], got: Act[], home: Home): boolean {
  const [wanted, found] = [eachThing(expected, home), eachThing(got, home)];
  return (
    wanted.every((one) => found.some((other) => sameAct(one, other, home))) &&
    found.every((other) => wanted.some((one) => sameAct(one, other, home)))
  );
}

/** An act a thing, with what has such a setting where no thing was said. */
export const eachThing = (acts: Act[], home: Home): Act[] =>
  acts.flatMap((act) => {
    const to = act.to.map((name) => name.replace(/^\*/, OWNERS[act.what ?? ""] ?? "*"));
    return devicesOf(home, to).map((name) => ({ ...act, to: [name] }));
  });

/** What has such a setting, where no thing was said: "the kitchen in red", "louder". */
const OWNERS: Record<string, string> = {
  brightness: "light",
  colour: "light",
  "colour temperature": "light",
  position: "cover",
  speed: "fan",
  volume: "media",
};

/** "start" of a plug is "on". A setting that was not said is the one that the value fits, which the resolver knows. */
function sameAct(expected: Act, got: Act, home: Home): boolean {
  const verb = (act: Act) => (act.do === "start" ? "on" : act.do);
  if (verb(expected) !== verb(got)) return false;
  if (expected.what !== undefined && got.what !== undefined && expected.what !== got.what) return false;
  if (expected.value !== undefined && !sameValue(expected.value, got.value)) return false;
  if (expected.asksWhich !== undefined && expected.asksWhich !== (got.asksWhich ?? false)) return false;
  return fits(expected.to[0] ?? "", got.to[0] ?? "", home);
}

/** Public sets write 100 for the maximum, and 0 or 1 for the minimum. */
const sameValue = (expected: Act["value"], got: Act["value"]): boolean =>
  expected === got ||
  (got === "maximum" && expected === 100) ||
  (got === "minimum" && (expected === 0 || expected === 1));

/** The same devices. Where a name stands for none of the home, as "light@Kitchen" where no lights are known, the names themselves. */
function sameThings(expected: string[], got: string[], home: Home, reading?: string): boolean {
  const [wanted, found] = [devicesOf(home, expected), devicesOf(home, got)];
  return (
    wanted.every((want) => found.some((has) => fits(want, has, home, reading))) &&
    found.every((has) => wanted.some((want) => fits(want, has, home, reading)))
  );
}

function fits(want: string, has: string, home: Home, reading?: string): boolean {
  if (want === has) return true;
  const [type, place] = has.split("@");
  const [wantedType, wantedPlace] = want.split("@");
  const device = (name: string) => home.devices.find(({ id }) => id === name);
  const isIn = (name: string, where?: string): boolean =>
    where === undefined || device(name)?.area === where || device(name)?.floor === where;
  // "how warm is it in the bedroom?" names no device. The resolver takes those of the place that have the reading.
  if (device(want) !== undefined)
    return (
      reading !== undefined && type === "*" && isIn(want, place) && !!device(want)?.readings.includes(reading)
    );
  return wantedType === "*" && (device(has) === undefined ? wantedPlace === place : isIn(has, wantedPlace));
}

/** An article or a preposition more or less is the same. */
function sameWords(expected: string, got: string): boolean {
  const [one, other] = [plain(expected), plain(got)];
  return other !== "" && (one.endsWith(other) || other.endsWith(one));
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[.!?"“”„«»。！？]/g, "")
    .trim();

const sameFields = (expected: object, got: object): boolean => {
  const [one, other] = [expected, got] as Record<string, unknown>[];
  const names = new Set([...Object.keys(expected), ...Object.keys(got)]);
  return [...names].every((name) => one?.[name] === other?.[name]);
};
