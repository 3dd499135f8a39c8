/** `edgecall permissions`: what it asks the gateway, and what it writes. */
import { expect, test } from "vitest";
import { playGateway } from "./testing/played-gateway.ts";

const DAY_MS = 86_400_000;
const HEAT = {
  id: "7f0e9c1a-0000-4000-8000-000000000001",
  device: "radiator",
  actions: { set: { temperature: { from: 18, to: 23 }, on: { oneOf: [true, false] } }, stop: {} },
  who: { person: "ben" },
  until: Date.UTC(2027, 1, 26),
  by: "anna",
  uses: 3,
  used_at: Date.now() - DAY_MS,
  ended: null,
};
const NOTES = {
  ...HEAT,
  id: "7f0e9c1a-0000-4000-8000-000000000002",
  device: "garden\u202e\u001b[31m",
  actions: { write: { path: { under: "/home/pi/notes" }, content: { any: "text", max: 64 } } },
  who: "everybody",
  uses: 0,
  used_at: null,
  ended: { at: 1, why: "paired_again", by: null },
};

/** @param answer of the gateway; `rules`: its rules that act, which it does not know otherwise @returns the requests, and what was written */
async function run(words: readonly string[], answer: object, status = 200, rules?: object) {
  const { run, requests } = await playGateway(({ path }) => {
    if (path !== "/v1/automations") return { status, body: answer };
    return rules ? { body: rules } : { status: 404, body: {} };
  });
  const ended = await run("permissions", ...words);
  return { ...ended, asked: requests.map(({ method, path }) => `${method} ${path}`) };
}

test("list has a line for each, with values, uses, end and id, and no control of the terminal", async () => {
  const { code, asked, out } = await run(["list", "--ended"], { permissions: [HEAT, NOTES] });
  expect([code, asked]).toEqual([0, ["GET /v1/permissions?ended=yes"]]);
  const [, heat = "", notes = ""] = out.split("\n");
  for (const text of [
    "radiator",
    "set temperature 18–23 on true|false; stop",
    "ben",
    "anna",
    "2027-02-26",
    "3",
    HEAT.id,
  ])
    expect(heat).toContain(text);
  for (const text of [
    "write path /home/pi/notes/… content any text (64 bytes)",
    "everybody",
    "ended: paired_again",
  ])
    expect(notes).toContain(text);
  for (const control of ["\u202e", "\u001b"]) expect(out).not.toContain(control);
});

test("without a word it lists; a rule is called by its name, and by its id where it is gone", async () => {
  const ofRule = { ...HEAT, who: { rule: "a-16235fac2fb1", version: 1 } };
  const gone = { ...HEAT, who: { rule: "a-000000000000", version: 2 } };
  const rule = { id: "a-16235fac2fb1", name: "Leak", status: "active", why: null, by: "anna", now: null };
  const listed = { permissions: [ofRule, gone, HEAT] };
  const { code, asked, out } = await run([], listed, 200, { automations: [rule], bridge: "online" });
  expect([code, asked]).toEqual([0, ["GET /v1/permissions", "GET /v1/automations"]]);
  const [, first = "", second = ""] = out.split("\n");
  expect(first).toMatch(/; stop {2}Leak +anna/);
  expect(first).not.toContain("a-16235fac2fb1");
  expect(second).toContain("a-000000000000 2");
  // An older gateway knows no rules that act.
  expect((await run([], listed)).out).toContain("a-16235fac2fb1 1");
  // Without a rule's permission their names are not asked for.
  expect((await run([], { permissions: [HEAT] })).asked).toEqual(["GET /v1/permissions"]);
});

test("list is JSON for a program, and says where there is none", async () => {
  expect(JSON.parse((await run(["list", "--json"], { permissions: [HEAT] })).out)).toEqual([HEAT]);
  expect(await run(["list"], { permissions: [] })).toMatchObject({
    code: 0,
    asked: ["GET /v1/permissions"],
    out: "",
    err: "there is no permission: each change of a device asks\n",
  });
  expect((await run(["list", "all"], { permissions: [] })).code).toBe(2);
});

test("end ends one, or all of a device or a person, and says what asks again", async () => {
  expect(await run(["end", HEAT.id], HEAT)).toMatchObject({
    code: 0,
    asked: [`DELETE /v1/permissions/${HEAT.id}`],
    err: "ended: 'radiator' asks again before set, stop\n",
  });
  expect(
    (await run(["end", "--device", "radiator", "--person", "ben"], { permissions: [HEAT] })).asked,
  ).toEqual(["DELETE /v1/permissions?person=ben&device=radiator"]);
  expect((await run(["end", "--person", "ben"], { permissions: [] })).err).toBe(
    "there is none that could end\n",
  );
});

test.each([[[]], [["one", "two"]], [["one", "--device", "radiator"]]])("end takes no %j", async (words) => {
  const { code, asked } = await run(["end", ...words], HEAT);
  expect([code, asked]).toEqual([2, []]);
});

test("what the gateway refuses is an error with its words", async () => {
  const refused = { error: { code: "not_found", message: "no such permission, or it has ended" } };
  const { code, err } = await run(["end", HEAT.id], refused, 404);
  expect([code, err]).toEqual([1, expect.stringContaining("no such permission, or it has ended")]);
});
