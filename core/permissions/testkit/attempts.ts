/**
 * Calls beside a standing permission, and what each of them comes to. Home's check and the device's own check both run all of them, so
 * that the two never differ. A call that is not covered asks a person, as without a permission.
 */
import type { ActionAdvert } from "../../protocol/mqtt.ts";
import type { StandingPermission } from "../permission.ts";

export const NOW = Date.UTC(2026, 10, 26, 14);
const DAY_MS = 86_400_000;

const parametersOf = (properties: Record<string, unknown>, required: readonly string[]) => ({
  type: "object",
  properties,
  required: [...required],
  additionalProperties: false,
});

const TEXT = { type: "string" };

/** The device's actions. `open_gate` is dangerous, and `bash` runs text in a shell. */
export const ACTIONS: readonly ActionAdvert[] = [
  {
    name: "set",
    description: "Set the radiator.",
    parameters: parametersOf({ temperature: { type: "number" }, mode: TEXT, on: { type: "boolean" } }, []),
    effect: "device",
  },
  {
    name: "write",
    description: "Write a text file.",
    parameters: parametersOf({ path: TEXT, content: TEXT }, ["path", "content"]),
    effect: "write",
  },
  {
    name: "bash",
    description: "Run a command in a shell.",
    parameters: parametersOf({ command: TEXT }, ["command"]),
    effect: "exec",
  },
  {
    name: "send",
    description: "Send a text to an address.",
    parameters: parametersOf({ text: TEXT }, ["text"]),
    effect: "network",
  },
  {
    name: "open_gate",
    description: "Open the gate.",
    parameters: parametersOf({}, []),
    effect: "device",
    danger: true,
  },
];

/**
 * The permission of most attempts: anna may set 18 to 23 °C. `key` and `version` are the device's own where they are "own", and `hours` are
 * minutes from now.
 */
const HEAT: StandingPermission = {
  id: "p-1",
  device: "pi",
  key: "own",
  version: "own",
  actions: {
    set: { temperature: { from: 18, to: 23 }, mode: { oneOf: ["heat", "auto"], optional: true } },
  },
  who: { person: "anna" },
  conversation: null,
  channels: null,
  tainted: false,
  chain: false,
  hours: null,
  until: NOW + 30 * DAY_MS,
  by: "anna",
  how: "verified",
  question: null,
  at: NOW - DAY_MS,
};

const only = (actions: StandingPermission["actions"]): StandingPermission => ({ ...HEAT, actions });
const NOTES = only({ write: { path: { under: "/home/pi/notes" }, content: { any: "text", max: 64 } } });
/** No card offers these three. The checks refuse them all the same. */
const SHELL = only({ bash: { command: { any: "text", max: 1_000 } } });
const EXACT_SHELL = only({ bash: { command: { is: "ls" } } });
const SEND = only({ send: { text: { any: "text", max: 100 } } });
const GATE = only({ open_gate: {} });

/** @property chain the agents that ask before this one */
type AttemptedCall = {
  action: string;
  parameters: unknown;
  principal: string;
  channel: string;
  tainted: boolean;
  chain: boolean;
};

const CALL: AttemptedCall = {
  action: "set",
  parameters: { temperature: 21 },
  principal: "anna",
  channel: "api",
  tainted: false,
  chain: false,
};

/** @property runs without a question */
export type Attempt = { name: string; runs: boolean; permission: StandingPermission; call: AttemptedCall };

const attempt =
  (runs: boolean, kind: string, permission: StandingPermission = HEAT) =>
  (call: Partial<AttemptedCall>): Attempt => ({
    name: `${kind}: ${JSON.stringify(call)}`,
    runs,
    permission,
    call: { ...CALL, ...call },
  });

const set = (parameters: unknown): Partial<AttemptedCall> => ({ parameters });
const write = (path: unknown, content: unknown = "milk"): Partial<AttemptedCall> => ({
  action: "write",
  parameters: { path, content },
});
/** The call that is right, under another permission. */
const under = (
  name: string,
  more: Partial<StandingPermission>,
  call: Partial<AttemptedCall> = {},
): Attempt => ({
  ...attempt(false, name, { ...HEAT, ...more })(call),
  name,
});

/** These run. Without them a check that refuses everything would pass. */
const RUNS: Attempt[] = [
  ...[
    {},
    set({ temperature: 18 }),
    set({ temperature: 23 }),
    set({ temperature: 20.5, mode: "auto" }),
    { channel: "console" },
    { channel: "telegram" },
  ].map(attempt(true, "within its bounds")),
  ...[
    write("/home/pi/notes/a.txt"),
    write("/home/pi/notes/2026/11/a.txt"),
    write("/home/pi/notes/a", "x".repeat(64)),
    // To a file's name this is no shell.
    write("/home/pi/notes/$(id); rm -rf ~"),
  ].map(attempt(true, "below its folder", NOTES)),
  ...["anna", "mia", "telegram:7", "somebody"].map((principal) =>
    attempt(true, "for everybody", { ...HEAT, who: "everybody" })({ principal }),
  ),
  attempt(true, "also tainted", { ...HEAT, tainted: true })({ tainted: true }),
  attempt(true, "also for agents", { ...HEAT, tainted: true, chain: true })({ tainted: true, chain: true }),
  attempt(true, "over its front door", { ...HEAT, channels: ["console", "api"] })({}),
  attempt(true, "in its hours", { ...HEAT, hours: { from: -60, to: 60 } })({}),
  attempt(true, "from the first minute of its hours", { ...HEAT, hours: { from: 0, to: 1 } })({}),
];

const NAMES = [
  ...["Set", "SET", "set ", " set", "set\u0000", "set\n", "set\u200b", "\u200bset", "set\u00ad", "set\ufeff"],
  ...[
    "\u0455et",
    "s\u0435t",
    "se\u03c4",
    "\uff53\uff45\uff54",
    "\u202etes",
    "\u2066set\u2069",
    "se\u0301t",
    "\u017fet",
  ],
  ...[
    "set_limit",
    "set_",
    "_set",
    "set.temperature",
    "set/",
    "./set",
    "../set",
    "radiator.set",
    "set;open_gate",
  ],
  ...[
    "set,open_gate",
    "*",
    "set*",
    ".*",
    "",
    "__proto__",
    "constructor",
    "toString",
    "valueOf",
    "hasOwnProperty",
  ],
].map((action) => attempt(false, "another name")({ action }));

const NUMBERS = [
  ...[17.999999, 23.000001, -21, 0, 1e300, -1e300, 2.1e1 + 3, Number.MAX_VALUE, Number.MIN_VALUE, 0x7f],
  ...[
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    21n,
    "21",
    " 21",
    "21.0",
    "0x15",
    "２１",
  ],
  ...["19..23", "21;mode=boost", "", true, false, null, undefined, [], [21], [18, 23], {}, { from: 18 }],
  ...[{ is: 21 }, { valueOf: "21" }, { $gte: 18 }, Object(21), new Date(21)],
].map(
  (temperature): Attempt => ({
    ...attempt(false, "another number")({}),
    name: `another number: ${typeof temperature} ${String(temperature)}`,
    call: { ...CALL, parameters: { temperature } },
  }),
);

const SETS = [
  ...[
    "boost",
    "cool",
    "Heat",
    "HEAT",
    "heat ",
    " heat",
    "heat\u200b",
    "h\u0435at",
    "\uff48\uff45\uff41\uff54",
    "\u202etaeh",
  ],
  ...[
    "heat,auto",
    "heat|auto",
    "heat OR 1=1",
    "h*",
    "^heat$",
    "",
    0,
    1,
    true,
    null,
    ["heat"],
    { is: "heat" },
  ],
].map((mode) => attempt(false, "out of a set")(set({ temperature: 21, mode })));

const own = (parameters: string): Partial<AttemptedCall> => set(JSON.parse(parameters));
const PARAMETERS = [
  ...[{}, { mode: "heat" }, { on: true }, { temperature: 21, on: true }, { temperature: 21, extra: 1 }],
  ...[{ Temperature: 21 }, { "temperature ": 21 }, { temperature: 21, "": 1 }, { "temper\u0430ture": 21 }],
  ...[
    { temperature: 21, "temperature\u200b": 30 },
    { temperature: 21, constructor: 1 },
    { temperature: 21, toString: 1 },
  ],
  ...[
    { temperature: 21, mode: undefined, on: undefined },
    { params: { temperature: 21 } },
    { temperature: 21, tool: "open_gate" },
  ],
  ...[
    [21],
    [["temperature", 21]],
    "temperature=21",
    '{"temperature":21}',
    21,
    true,
    null,
    new Map([["temperature", 21]]),
  ],
  ...[Object.create({ temperature: 21 }), Object.assign(Object.create({ on: true }), { temperature: 21 })],
  ...[Object.assign({ temperature: 21 }, { [Symbol("on")]: true })],
].map(
  (parameters, at): Attempt => ({
    ...attempt(false, "other parameters")({}),
    name: `other parameters, ${at}: ${JSON.stringify(parameters)}`,
    call: { ...CALL, parameters },
  }),
);
const PROTOTYPES = [
  '{"temperature": 21, "__proto__": {"on": true}}',
  '{"__proto__": {"temperature": 21}}',
  '{"temperature": 21, "prototype": {}}',
  '{"temperature": 21, "__defineGetter__": 1}',
].map(
  (text): Attempt => ({
    ...attempt(false, "a prototype")({}),
    name: `a prototype: ${text}`,
    call: { ...CALL, ...own(text) },
  }),
);

const PATHS = [
  ...[
    "/home/pi/notes",
    "/home/pi/notes/",
    "/home/pi/notes2/a",
    "/home/pi/notes.txt",
    "/home/pi/a",
    "/",
    "",
    ".",
  ],
  ...["/home/pi/notes/../a", "/home/pi/notes/../notes/a", "/home/pi/notes/a/../../b", "/home/pi/notes/./a"],
  ...[
    "/home/pi/notes//a",
    "//home/pi/notes/a",
    "/home/pi/notes/..\\a",
    "/home/pi/notes\\a",
    "\\home\\pi\\notes\\a",
  ],
  ...[
    "/home/pi/notes/.a",
    "/home/pi/notes/.git/hooks/post-commit",
    "/home/pi/notes/...",
    "home/pi/notes/a",
    "notes/a",
  ],
  ...[
    "~/notes/a",
    "$HOME/notes/a",
    "file:///home/pi/notes/a",
    "/home/pi/notes/a\u0000",
    "/home/pi/notes/a\n",
  ],
  ...[
    "/home/pi/notes/\u202etxt.a",
    "/home/pi/notes\u200b/a",
    "/home/pi/notes/a\u0308",
    "/home/pi/notes/\ud83d",
  ],
  ...[
    "/home/pi/Notes/a",
    "/home/pi/n\u043etes/a",
    "/home/pi/\uff4eotes/a",
    "/home/pi/notes\u2215a",
    "/home/pi/notes\uff0fa",
  ],
  ...[
    "/home/pi/notes/%2e%2e/a\u0001",
    "/proc/self/cwd/a",
    "/home/pi/notes/\u2028a\u0085",
    ["/home/pi/notes/a"],
    null,
    5,
  ],
].map((path) => attempt(false, "out of its folder", NOTES)(write(path)));
const CONTENTS = ["x".repeat(65), "ä".repeat(33), "\ud83d", 5, null, ["milk"], { text: "milk" }].map(
  (content): Attempt => ({
    ...attempt(false, "other content", NOTES)({}),
    name: `other content: ${typeof content} ${String(content)}`,
    call: { ...CALL, ...write("/home/pi/notes/a", content) },
  }),
);
const BESIDE = [{ mode: 511 }, { append: true }, { overwrite: true }, { cwd: "/" }].map((more) =>
  attempt(
    false,
    "beside a file",
    NOTES,
  )({ action: "write", parameters: { path: "/home/pi/notes/a", content: "milk", ...more } }),
);

const SHELLS = [
  "ls",
  "ls; id",
  "ls && id",
  "ls\nid",
  "ls $(id)",
  "ls `id`",
  "ls | sh",
  "l\\s",
  "'ls'",
].flatMap((text) => {
  const call = { action: "bash", parameters: { command: text } };
  return [
    attempt(false, "text for a shell", SHELL)(call),
    attempt(false, "exact text for a shell", EXACT_SHELL)(call),
  ];
});
const OUTWARDS = [attempt(false, "out of the home", SEND)({ action: "send", parameters: { text: "hello" } })];
const DANGERS = [
  {},
  { who: "everybody" as const },
  { tainted: true, chain: true },
  { how: "verified" as const },
].map((more, at) => ({
  ...attempt(false, "what may do harm", { ...GATE, ...more })({ action: "open_gate", parameters: {} }),
  name: `what may do harm, ${at}`,
}));

const PEOPLE = [
  ...[
    "mia",
    "max",
    "Anna",
    "ANNA",
    "anna ",
    " anna",
    "anna\u200b",
    "\u0430nna",
    "\uff41nna",
    "\u202eanna",
    "anna\u0000",
  ],
  ...[
    "ann",
    "annaa",
    "telegram:anna",
    "anna:telegram",
    "telegram:7",
    "agent:anna",
    "home:anna",
    "person:anna",
  ],
  ...["everybody", "*", "", "owner", "gateway", "undefined", "__proto__"],
].map((principal) => attempt(false, "another person")({ principal }));
const PROGRAMS = [
  ...["mcp", "gateway", "mqtt"].map((channel) => ({ channel })),
  ...["agent:nas", "home:next", "agent:", "home:"].map((principal) => ({ principal })),
].map(attempt(false, "no person, for everybody", { ...HEAT, who: "everybody" }));
const OWN_PROGRAMS = ["mcp", "gateway", "mqtt"].map((channel) =>
  attempt(false, "a program of its person")({ channel }),
);
const CHANNELS = ["api", "Console", "console ", "consol", "console/1", "telegram", ""].map((channel) =>
  attempt(false, "another front door", { ...HEAT, channels: ["console"] })({ channel }),
);

const OTHERS: Attempt[] = [
  attempt(false, "a stranger's text")({ tainted: true }),
  attempt(false, "a stranger's text, for everybody", { ...HEAT, who: "everybody" })({ tainted: true }),
  attempt(false, "another agent")({ chain: true }),
  attempt(false, "another agent, with one of both", { ...HEAT, tainted: true })({
    tainted: true,
    chain: true,
  }),
  attempt(false, "a stranger's text, with the other", { ...HEAT, chain: true })({
    tainted: true,
    chain: true,
  }),
  under("another conversation's", { conversation: "c-1" }),
  under("another conversation's, of anybody", { conversation: "c-1", who: "everybody" }),
  under("a program's", { who: { program: "anna" } }),
  under("another home's", { who: { home: "anna" } }),
  under("a rule's", { who: { rule: "w-0000", version: 1 } }),
  under("another person's", { who: { person: "mia" } }),
  under("another device's key", { key: "another" }),
  under("the device's name for its key", { key: "pi" }),
  under("another version", { version: "another" }),
  under("the action's name for its version", { version: "set" }),
  under("another action's", { actions: { write: HEAT.actions.set ?? {} } }),
  under("that of no action", { actions: {} }),
  under("over since its date", { until: NOW - 1 }),
  under("over at this moment", { until: NOW }),
  under("over for long", { at: NOW - 200 * DAY_MS, until: NOW - 110 * DAY_MS }),
  under("not begun", { at: NOW + 1 }),
  under("not begun for long", { at: NOW + DAY_MS }),
  under("before its hours", { hours: { from: 1, to: 60 } }),
  under("at the end of its hours", { hours: { from: -60, to: 0 } }),
  under("in hours of another time of the day", { hours: { from: 300, to: 600 } }),
];

const ALL: readonly Attempt[] = [
  ...RUNS,
  ...NAMES,
  ...NUMBERS,
  ...SETS,
  ...PARAMETERS,
  ...PROTOTYPES,
  ...PATHS,
  ...CONTENTS,
  ...BESIDE,
  ...SHELLS,
  ...OUTWARDS,
  ...DANGERS,
  ...PEOPLE,
  ...PROGRAMS,
  ...OWN_PROGRAMS,
  ...CHANNELS,
  ...OTHERS,
];

export const ATTEMPTS: readonly Attempt[] = ALL.map((one, at) => ({ ...one, name: `${at}, ${one.name}` }));

/** The permission of an attempt for this device, whose day is at this minute. */
export function permissionFor(
  { permission }: Attempt,
  { id, key, version, minute }: { id: string; key: string; version: string; minute: number },
): StandingPermission {
  const { hours } = permission;
  const wrapped = (from: number) => (((minute + from) % 1_440) + 1_440) % 1_440;
  return {
    ...permission,
    id,
    key: permission.key === "own" ? key : permission.key,
    version: permission.version === "own" ? version : permission.version,
    hours: hours && { from: wrapped(hours.from), to: wrapped(hours.to) },
  };
}
