/** Any frames about rules that act, for tests of the wire. */
import fc from "fast-check";
import type {
  ActOutcome,
  Automation,
  AutomationNews,
  AutomationOrder,
  AutomationRun,
  AutomationStatus,
} from "../../protocol/automation.ts";
import { LANGUAGES } from "../../text/languages.ts";
import { conditionOf, ruleOf, stepOf } from "./rules.ts";

/** All keys are there, but for those of `optional`. */
const record = <T extends object>(
  model: { [K in keyof T]-?: fc.Arbitrary<Exclude<T[K], undefined>> },
  optional: readonly (keyof T)[] = [],
): fc.Arbitrary<T> =>
  fc.record(model, {
    requiredKeys: (Object.keys(model) as (keyof T)[]).filter((key) => !optional.includes(key)),
    noNullPrototype: true,
  }) as fc.Arbitrary<T>;
const of = <T extends string>(t: T) => fc.constant(t);
const text = (maxLength: number) => fc.string({ maxLength });
const some = (maxLength: number) => fc.string({ minLength: 1, maxLength });

const id = some(128);
const rule = fc.stringMatching(/^a-[0-9a-f]{4,12}$/);
const from1 = fc.integer({ min: 1, max: 1_000_000 });
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const language = fc.constantFrom(...LANGUAGES);
const outcome = fc.constantFrom("confirmed", "sent", "not_sent", "unconfirmed", "unknown", "late");

const automation: fc.Arbitrary<Automation> = fc
  .record({
    id: rule,
    version: from1,
    name: some(60),
    match: fc.constantFrom("all", "any"),
    when: fc.array(fc.constant(conditionOf()), { maxLength: 4 }),
    do: fc.array(
      fc.record({ wait_minutes: fc.nat(720), danger: fc.constantFrom("heat", "noise") }).map(stepOf),
      { minLength: 1, maxLength: 6 },
    ),
    over: fc.constantFrom("leave", "off", "undo"),
    at_most_minutes: fc.nat(720),
    go_on: fc.boolean(),
  })
  .map(ruleOf);

const run = record<AutomationRun>(
  {
    rule,
    version: from1,
    firing: from1,
    state: fc.constantFrom("running", "done", "stopped", "not_run", "undone"),
    at: time,
    ended: time,
    because: fc.array(text(200), { maxLength: 4 }),
    steps: fc.array(record({ step: fc.nat(), outcome, text: text(500), at: time }), { maxLength: 12 }),
    why: text(300),
    undo: fc.boolean(),
  },
  ["ended", "why", "undo"],
);
const news = record<AutomationNews>(
  {
    n: from1,
    rule,
    version: from1,
    run,
    paused: text(300),
    chain: fc.array(fc.string({ minLength: 1, maxLength: 60 }), { maxLength: 8 }),
    silent: fc.nat(),
    critical: fc.boolean(),
  },
  ["run", "paused", "chain", "silent", "critical"],
);
const status = record<AutomationStatus>(
  {
    rule,
    version: from1,
    state: fc.constantFrom("armed", "waiting", "unknown", "running", "resting", "stopped"),
    now: fc.array(text(200), { maxLength: 4 }),
    runs: fc.array(run, { maxLength: 3 }),
    next: time,
    over_at: time,
  },
  ["next", "over_at"],
);
const source = record({ name: text(60), says: fc.constantFrom("home", "away", "unknown") });
const presence = record({
  home: fc.constantFrom("somebody", "nobody", "unknown"),
  sources: fc.array(source, { maxLength: 3 }),
});

/** Of the bridge. */
export const bridgeFrames = [
  record({
    t: of("drafted"),
    id,
    drafted: fc.oneof(
      record({
        automation,
        card: fc.array(text(500), { maxLength: 20 }),
        second_tap: fc.array(text(200), { maxLength: 6 }),
      }),
      record({ error: text(1_200) }),
    ),
  }),
  record({
    t: of("ordered"),
    id,
    ordered: fc.oneof(
      record<{ status: AutomationStatus[]; presence?: object }>(
        { status: fc.array(status, { maxLength: 3 }), presence },
        ["presence"],
      ),
      record({ text: text(1_000), confirmed: fc.boolean() }),
      record({ error: text(500) }),
    ),
  }),
  record({ t: of("act"), act: record({ id, rule, version: from1, firing: from1, step: fc.nat() }) }),
  record<{ t: "news"; news: AutomationNews[]; lost?: number }>(
    { t: of("news"), news: fc.array(news, { maxLength: 3 }), lost: fc.nat() },
    ["lost"],
  ),
];

/** Of Home. */
export const homeFrames = [
  record<{ t: "automations"; set: string[]; drop: string[]; all?: boolean }>(
    {
      t: of("automations"),
      set: fc.array(text(300), { maxLength: 3 }),
      drop: fc.array(rule, { maxLength: 3 }),
      all: fc.boolean(),
    },
    ["all"],
  ),
  record({
    t: of("draft"),
    draft: record({
      id,
      rule: record({ id: rule, version: from1 }),
      input: text(300),
      zone: of("Europe/Berlin"),
      language,
    }),
  }),
  record({
    t: of("order"),
    id,
    order: fc.oneof<fc.Arbitrary<AutomationOrder>[]>(
      record({ do: of("status"), rules: fc.array(rule, { maxLength: 3 }), language }),
      record({ do: of("undo"), rule, firing: from1, by: some(200), language }),
    ),
  }),
  record({ t: of("acted"), id, acted: record<ActOutcome>({ outcome, text: text(500) }) }),
  record({ t: of("news_stored"), upto: fc.nat() }),
  record({
    t: of("presence_said"),
    all: fc.array(record({ person: some(200), name: some(60), away: fc.boolean(), at: time }), {
      maxLength: 3,
    }),
  }),
];
