import fc from "fast-check";
import { expect, test } from "vitest";
import * as ofRules from "../automations/testkit/frames.ts";
import { watchOf } from "../rules/testkit/rules.ts";
import { conditionOf } from "../rules/watch-rule.ts";
import { LANGUAGES } from "../text/languages.ts";
import { type HostedState, READINGS_MAX, type Reading } from "./devices.ts";
import {
  type AgentState,
  BridgeFrame,
  CLOSE,
  encodeFrame,
  REFUSALS,
  TEXT_KINDS,
  UPDATE_WORDS_MAX,
} from "./frames.ts";
import { HomeFrame } from "./home-frames.ts";
import { ACKS_MAX } from "./mqtt.ts";
import { AGENT_ID } from "./names.ts";
import { checkJson } from "./parse.ts";
import { PAST_ASKS, PAST_STEPS, PAST_WORDS_MAX } from "./past.ts";

const id = fc.string({ minLength: 1, maxLength: 128 });
const agent = fc.stringMatching(AGENT_ID);
/** Published texts: any bytes of an agent, as text. */
const payload = fc.oneof(fc.string({ unit: "grapheme" }), fc.json());
const time = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const frameNumber = fc.integer({ min: 1 });

const text = (maxLength: number) => fc.string({ maxLength });
const deviceKey = fc.stringMatching(/^[A-Za-z0-9_-]{8,64}$/);
const hosted: fc.Arbitrary<HostedState> = fc.record(
  {
    key: deviceKey,
    allow: fc.string({ minLength: 1, maxLength: 64 }),
    mode: fc.constantFrom("read", "allow"),
    name: fc.string({ minLength: 1, maxLength: 100 }),
    area: text(64),
    model: text(100),
    publisher: text(64),
    not_offered: fc.array(fc.record({ what: text(100), why: text(200) }, { noNullPrototype: true }), {
      maxLength: 3,
    }),
  },
  { requiredKeys: ["key", "allow", "mode", "name"], noNullPrototype: true },
);
const reading: fc.Arbitrary<Reading> = fc.record(
  {
    name: text(100),
    // JSON has no -0.
    value: fc.oneof(
      text(500),
      fc.integer().map((n) => n / 10 + 0),
      fc.boolean(),
      fc.constant(null),
    ),
    text: text(500),
    unit: text(32),
    kind: text(32),
    class: text(64),
    at: fc.option(time),
    unavailable: fc.boolean(),
    tainted: fc.boolean(),
  },
  { requiredKeys: ["name", "value", "text", "kind", "at", "tainted"], noNullPrototype: true },
);

const state: fc.Arbitrary<AgentState> = fc.record(
  {
    id: agent,
    online: fc.boolean(),
    reason: fc.string({ maxLength: 200 }),
    last_seen: fc.option(time),
    foreign: fc.boolean(),
    capabilities: payload,
    tools: payload,
    presence: payload,
    alive: payload,
    kept: fc.subarray([...TEXT_KINDS]),
    hosted,
  },
  { requiredKeys: ["id", "online", "last_seen", "foreign"], noNullPrototype: true },
);

const record = <T extends object>(
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
  optional: (keyof T)[] = [],
) =>
  fc.record(model, {
    requiredKeys: (Object.keys(model) as (keyof T)[]).filter((key) => !optional.includes(key)),
    noNullPrototype: true,
  });
const of = <T extends string>(t: T) => fc.constant(t);

const rule = fc.stringMatching(/^w-[0-9a-f]{4,12}$/);
const seq = fc.integer({ min: 1, max: 1_000_000 });
const condition = record(
  {
    code: fc.stringMatching(/^[a-z_]{1,48}$/),
    params: fc.dictionary(fc.stringMatching(/^[a-z]{1,32}$/), fc.string({ maxLength: 200 }), { maxKeys: 3 }),
  },
  ["params"],
);
const change = record(
  {
    rule,
    version: seq,
    seq,
    state: fc.constantFrom("idle", "firing", "unknown"),
    occurrence: fc.nat(),
    at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
    value: fc.oneof(fc.boolean(), fc.integer(), text(200)),
  },
  ["value"],
);
const known = record({ seq: fc.nat(), occurrence: fc.nat() });

const pastWords = fc.string({ maxLength: PAST_WORDS_MAX });
const pastQuestion = record(
  {
    agent,
    name: pastWords,
    reading: pastWords,
    ask: fc.constantFrom(...PAST_ASKS),
    is: pastWords,
    period: pastWords,
    by: fc.constantFrom(...PAST_STEPS),
    compare: pastWords,
    zone: fc.constantFrom("UTC", "Europe/Berlin"),
    sentence: record({ language: fc.constantFrom(...LANGUAGES), state: pastWords }),
  },
  ["is", "period", "by", "compare", "sentence"],
);
const pastReply = fc.oneof(
  record({ error: pastWords }),
  record({ text: pastWords, last: fc.nat(), tainted: fc.boolean(), picture: of("aGk=") }, [
    "last",
    "tainted",
    "picture",
  ]),
);

const bridgeFrame = fc.oneof(
  record(
    {
      t: of("hello"),
      protocol: fc.nat(),
      bridge: id,
      version: fc.string({ maxLength: 64 }),
      features: fc.array(fc.string({ maxLength: 32 }), { maxLength: 4 }),
      rules: text(64),
    },
    ["features", "rules"],
  ),
  record(
    {
      t: of("snapshot"),
      agents: fc.array(state, { maxLength: 4 }),
      last: fc.boolean(),
      over: fc.nat(),
      n: frameNumber,
    },
    ["over", "n"],
  ),
  record({ t: of("agent"), agent: state }),
  record({ t: of("agents"), agents: fc.array(state, { maxLength: 4 }), over: fc.nat(), n: frameNumber }, [
    "over",
    "n",
  ]),
  record({ t: of("gone"), agent }),
  record({ t: of("taken"), id }),
  record({
    t: of("refused"),
    id,
    code: fc.constantFrom(...REFUSALS),
    message: fc.string({ maxLength: 1_000 }),
  }),
  record({ t: of("event"), id, agent, payload }),
  record({ t: of("report"), id, agent, payload }),
  record({
    t: of("states"),
    id,
    devices: fc.array(
      record({ id: agent, online: fc.boolean(), readings: fc.array(reading, { maxLength: 3 }) }),
      { maxLength: 3 },
    ),
    last: fc.boolean(),
  }),
  record({ t: of("past"), id, reply: pastReply }),
  record({ t: of("changes"), changes: fc.array(change, { maxLength: 3 }), lost: fc.nat() }, ["lost"]),
  record({ t: of("conditions"), all: fc.array(condition, { maxLength: 8 }) }),
  record({
    t: of("assistant"),
    id,
    answer: record(
      {
        state: fc.option(
          record(
            {
              url: text(300),
              by: fc.constantFrom("settings", "sign_in"),
              up: fc.boolean(),
              version: text(40),
              user: text(100),
              admin: fc.boolean(),
              shown: fc.nat(),
              problem: text(600),
            },
            ["version", "user", "admin", "problem"],
          ),
        ),
        authorize: fc.webUrl(),
        error: text(500),
      },
      ["authorize", "error"],
    ),
  }),
  record({ t: of("updated"), id, ok: fc.boolean(), text: fc.string({ maxLength: UPDATE_WORDS_MAX }) }),
  ...ofRules.bridgeFrames,
);

const login = fc
  .constantFrom("AAAA", "/+09")
  .map((four) => `$7$101$${four.repeat(4)}$${four.repeat(21)}AQ==`);
const session = record({ boot_id: fc.string({ maxLength: 64 }), key: fc.string({ maxLength: 64 }) });
const key = record({ id: agent, key: fc.option(fc.string({ maxLength: 64 })), n: time, login, session }, [
  "login",
  "session",
]);
const hash = fc.string({ maxLength: 64 });
const signIn = fc.stringMatching(/^[\w-]{20,64}$/);
const storedTexts = record({ id: agent, capabilities: hash, tools: hash, presence: hash }, [...TEXT_KINDS]);
const homeFrame = fc.oneof(
  record(
    {
      t: of("welcome"),
      protocol: fc.nat(),
      home: fc.string(),
      version: fc.string(),
      gateway_key: fc.string({ maxLength: 64 }),
      keys: fc.array(key, { maxLength: 4 }),
      kept: fc.boolean(),
      paced: fc.boolean(),
      standby: fc.boolean(),
      unsigned: fc.array(fc.string({ maxLength: 64 }), { maxLength: 4 }),
      devices: fc.boolean(),
    },
    ["gateway_key", "keys", "kept", "paced", "standby", "unsigned", "devices"],
  ),
  record({
    t: of("known"),
    keys: fc.array(key, { maxLength: 4 }),
    texts: fc.array(storedTexts, { maxLength: 4 }),
    last: fc.boolean(),
  }),
  record({ t: of("stored"), n: fc.nat() }),
  record({ t: of("lacks"), agents: fc.array(agent, { maxLength: 4 }) }),
  record({ t: of("keys"), keys: fc.array(key, { maxLength: 4 }), part: fc.boolean() }, ["part"]),
  record({ t: of("call"), id, agent, payload, expires_in_ms: time, allow: hash }, ["allow"]),
  record({ t: of("publish"), agent, payload }),
  record({ t: of("ack"), id, agent, payload }, ["agent", "payload"]),
  record({ t: of("acks"), agent, ids: fc.array(id, { maxLength: ACKS_MAX }), payload }),
  record({ t: of("session"), agent, session }),
  record({ t: of("past"), id, question: pastQuestion }),
  record({ t: of("states"), id, agents: fc.array(agent, { maxLength: 4 }), all: fc.boolean() }, [
    "agents",
    "all",
  ]),
  record(
    {
      t: of("rules"),
      set: fc.array(
        record(
          { condition: rule.map((one) => conditionOf(watchOf({ id: one }))), device: deviceKey, known },
          ["known"],
        ),
        {
          maxLength: 3,
        },
      ),
      drop: fc.array(rule, { maxLength: 3 }),
      all: fc.boolean(),
    },
    ["all"],
  ),
  record({ t: of("changed"), upto: fc.dictionary(rule, seq, { maxKeys: 3, noNullPrototype: true }) }),
  record({
    t: of("assistant"),
    id,
    question: record(
      {
        begin: record({ url: text(300), client: text(300), redirect: text(300), state: signIn }),
        finish: record({ state: signIn, code: fc.string({ minLength: 1, maxLength: 300 }) }),
        forget: fc.constant(true),
      },
      ["begin", "finish", "forget"],
    ),
  }),
  record({ t: of("forget_device"), key: deviceKey }),
  record({ t: of("update"), id }),
  record({ t: of("error"), code: fc.string(), message: fc.string() }),
  ...ofRules.homeFrames,
);

test("every frame of the bridge survives encoding and parsing, with its payload unchanged", () => {
  fc.assert(
    fc.property(bridgeFrame, (frame) => {
      const read = checkJson(BridgeFrame, encodeFrame(frame as BridgeFrame));
      expect(read).toEqual({ ok: true, value: frame });
    }),
  );
});

test("every frame of Home survives encoding and parsing", () => {
  fc.assert(
    fc.property(homeFrame, (frame) => {
      const read = checkJson(HomeFrame, encodeFrame(frame as HomeFrame));
      expect(read).toEqual({ ok: true, value: frame });
    }),
  );
});

test("the test has every kind of frame", () => {
  const kinds = (schema: { options: readonly unknown[] }) => schema.options.length;
  expect([kinds(BridgeFrame.def), kinds(HomeFrame.def)]).toEqual([19, 24]);
});

test.each<[string, unknown, string]>([
  ["no kind", {}, "t: "],
  ["an unknown kind", { t: "shell" }, "t: "],
  ["an agent that would widen a subscription", { t: "gone", agent: "+" }, "agent: "],
  ["an empty call id", { t: "taken", id: "" }, "id: "],
  ["an unknown refusal", { t: "refused", id: "c", code: "moody", message: "" }, "code: "],
  ["a payload that is not text", { t: "report", id: "c", agent: "a", payload: {} }, "payload: "],
  [
    "a payload above its size",
    { t: "report", id: "c", agent: "a", payload: "x".repeat(512 * 1024 + 1) },
    "payload: ",
  ],
  ["too many agents", { t: "snapshot", agents: Array(257).fill({}), last: true }, "agents"],
  [
    "no last_seen, which is not the same as never",
    { t: "agent", agent: { id: "a", online: true, foreign: false } },
    "agent.last_seen: ",
  ],
  [
    "a hosted device without a key",
    {
      t: "agent",
      agent: {
        id: "a",
        online: true,
        last_seen: null,
        foreign: false,
        hosted: { key: "short", mode: "allow" },
      },
    },
    "agent.hosted.key: ",
  ],
  [
    "a reading above its size",
    {
      t: "states",
      id: "c",
      last: true,
      devices: [
        {
          id: "a",
          online: true,
          readings: [
            { name: "x", value: 1, text: "x".repeat(501), kind: "sensor", at: null, tainted: false },
          ],
        },
      ],
    },
    "devices.0.readings.0.text: ",
  ],
  [
    "too many readings",
    {
      t: "states",
      id: "c",
      last: true,
      devices: [{ id: "a", online: true, readings: Array(READINGS_MAX + 1).fill({}) }],
    },
    "devices.0.readings",
  ],
])("refused, and the field named: %s", (_, frame, field) => {
  const read = checkJson(BridgeFrame, JSON.stringify(frame));
  expect(read.ok ? "taken" : read.error).toMatch(new RegExp(`^${field}`));
});

test("any text is parsed or refused, and nothing throws", () => {
  const almost = fc.dictionary(
    fc.constantFrom("t", "id", "agent", "payload", "agents", "last"),
    fc.oneof(fc.jsonValue(), fc.constantFrom("hello", "call", "snapshot", "report", "ack")),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        almost.map((it) => JSON.stringify(it)),
      ),
      (text) => {
        expect(typeof checkJson(BridgeFrame, text).ok).toBe("boolean");
        expect(typeof checkJson(HomeFrame, text).ok).toBe("boolean");
      },
    ),
  );
});

test("close codes are in the range for applications, and differ", () => {
  const codes = Object.values(CLOSE);
  for (const code of codes) expect(code >= 4000 && code < 5000).toBe(true);
  expect(new Set(codes).size).toBe(codes.length);
});
