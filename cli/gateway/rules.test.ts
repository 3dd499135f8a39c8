/** `edgecall rules`: watches and reminders, and the rules that act, with what the bridge says of them. */
import { expect, test } from "vitest";
import { playGateway } from "./testing/played-gateway.ts";

const WATCH = {
  ...{ id: "w-1a2b3c", name: "Freezer", status: "active", why: null, condition: "above -15 °C" },
  ...{ state: "idle", last_firing: null, by: "anna", to: "anna" },
};
const ago = (minutes: number) => Date.now() - minutes * 60_000;
const ACTS = {
  ...{ id: "a-16235fac2fb1", name: "Leak", status: "active", why: null, by: "anna" },
  now: {
    state: "armed",
    runs: [
      { at: ago(50), state: "stopped" },
      { at: ago(3), state: "done" },
    ],
  },
};

type Rules = { watches?: object[]; acting?: object[]; bridge?: string; fails?: number };

/** @param rules those that the gateway has; without `acting` it knows none, with `fails` it answers so for these @returns the requests, and what was written */
async function run(
  words: readonly string[],
  { watches = [], acting, bridge = "online", fails = 404 }: Rules,
) {
  const { run, requests } = await playGateway(({ method, path }) => {
    const isActing = path.startsWith("/v1/automations");
    if (isActing && !acting) {
      const code = fails === 404 ? "not_found" : "unavailable";
      return { status: fails, body: { error: { code, message: `answer ${fails}` } } };
    }
    if (method !== "GET") return { body: { name: "Leak" } };
    return { body: isActing ? { automations: acting, bridge } : { rules: watches } };
  });
  const ended = await run("rules", ...words);
  return { ...ended, asked: requests.map(({ method, path }) => `${method} ${path}`) };
}

test("rules that act are listed with their state and last run, also where nothing is watched", async () => {
  const paused = { ...ACTS, id: "a-2", name: "Lights\u001b[31m", status: "paused", why: "it ran too often" };
  const { code, out } = await run([], { acting: [ACTS, { ...paused, now: null }] });
  expect(code).toBe(0);
  expect(out.split("\n")).toEqual([
    expect.stringMatching(/^RULE THAT ACTS +NAME +BY +IS +LAST RUN$/),
    expect.stringMatching(/^a-16235fac2fb1 +Leak +anna +armed +3 min ago: done$/),
    expect.stringMatching(/^a-2 +Lights\\u001b\[31m +anna +paused: it ran too often +not known$/),
    "",
  ]);
  const both = await run([], { watches: [WATCH], acting: [ACTS] });
  expect(both.out).toMatch(
    /^RULE +NAME +WHEN[\s\S]+\nw-1a2b3c [\s\S]+\n\nRULE THAT ACTS[\s\S]+\na-16235fac2fb1 /,
  );
});

test.each([
  [{ state: "waiting", runs: [] }, "online", /waiting: it has to be over first.* never$/m],
  [
    { state: "waiting", over_at: 1, runs: [] },
    "online",
    /waiting: ready at \d\d-\d\d [\d:]+, if it stays so/,
  ],
  [{ state: "running", runs: [{ at: Date.now(), state: "running" }] }, "online", / running .* runs now$/m],
  [{ state: "resting", runs: [] }, "online", /resting: it ran very often/],
  [{ state: "unknown", runs: [] }, "online", /armed, but a value is not known/],
  [null, "online", /the bridge does not have it yet {2}not known$/m],
  [null, "offline", /active; the bridge is not connected/],
  [null, "older", /active; the bridge is older/],
])("its state %j with a bridge that is %s", async (now, bridge, said) => {
  expect((await run([], { acting: [{ ...ACTS, now }], bridge })).out).toMatch(said);
});

test("--json has both; a gateway that knows no rules that act has the others, and none is said", async () => {
  expect(JSON.parse((await run(["--json"], { watches: [WATCH], acting: [ACTS] })).out)).toEqual([
    WATCH,
    { kind: "automation", ...ACTS },
  ]);
  expect(JSON.parse((await run(["--json"], { watches: [WATCH] })).out)).toEqual([WATCH]);
  expect((await run([], { acting: [] })).err).toContain("there is no rule; for one:");
});

test("the last run is the bridge's last, also where the bridge had no clock when it began", async () => {
  const runs = [
    { at: ago(3), state: "done" },
    { at: ago(50), state: "stopped" },
  ];
  const { out } = await run([], { acting: [{ ...ACTS, now: { state: "armed", runs } }] });
  expect(out).toMatch(/ 50 min ago: stopped$/m);
});

test.each([[[]], [["--json"]]])(
  "watches are listed where the gateway cannot list rules that act (%j)",
  async (words) => {
    const { code, out, err } = await run(words, { watches: [WATCH], fails: 400 });
    expect(out).toContain(WATCH.id);
    expect(err).toBe("the rules that act are missing here: answer 400\n");
    expect(code).toBe(1);
    expect((await run(words, { fails: 400 })).err).not.toContain("there is no rule");
  },
);

test("pause and remove take a rule that acts; resume says where an owner reads its card", async () => {
  expect(await run(["pause", ACTS.id], { acting: [] })).toMatchObject({
    code: 0,
    asked: [`PATCH /v1/automations/${ACTS.id}`],
    err: "'Leak' is paused\n",
  });
  expect((await run(["remove", ACTS.id], { acting: [] })).asked).toEqual([
    `DELETE /v1/automations/${ACTS.id}`,
  ]);
  expect((await run(["pause", WATCH.id], {})).asked).toEqual([`PATCH /v1/rules/${WATCH.id}`]);
  const { code, asked, err } = await run(["resume", ACTS.id], { acting: [] });
  expect([code, asked]).toEqual([2, []]);
  expect(err).toContain(`edgecall ask "resume the rule ${ACTS.id}"`);
});
