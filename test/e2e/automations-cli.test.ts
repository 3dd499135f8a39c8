/** Rules that act on the command line: the demo home without a model that answers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, expect, test } from "vitest";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { ACTS_WITHIN_MS, ActingRules } from "./acting-rules.ts";
import { edgecall, edgecallOnTerminal } from "./command.ts";
import { useSpokenHome } from "./spoken-home.ts";

const home = mkdtempSync(join(tmpdir(), "edgecall-home-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const { stack } = useSpokenHome();
const rules = new ActingRules(() => stack.gateway);

const env = () => ({ EDGECALL_URL: stack.gateway.url, EDGECALL_TOKEN: TOKENS.owner, HOME: home });
const run = (...args: string[]) => edgecall(args, env());
const SAYS = "When the leak sensor is wet, close the water valve";

test("the card is read as its sentences, and y allows it", async () => {
  const command = edgecallOnTerminal(["ask", SAYS], env());
  await command.writes("Allow? [y/n]");
  const card = stripVTControlCharacters(command.out).split(/\r?\n/);
  expect(card).toContain(`Make this rule? “${SAYS}”`);
  expect(card).toContainEqual(expect.stringMatching(/^ {2}When: Leak sensor: Water leak is wet/));
  expect(card).toContainEqual(expect.stringMatching(/^ {2}Then: Water valve, Laundry: close/));
  expect(card).toContainEqual(
    expect.stringMatching(/^ {2}a-[0-9a-f]{12}, version 1, for exactly these devices/),
  );
  expect(command.out).not.toMatch(/exactly: |\{"/);
  command.types("y\r");
  const { code, out } = await command.ended;
  expect(code).toBe(0);
  expect(out).toContain("acts from now on");
});

test("it is listed with its state, for people and programs, and its permission by its name", async () => {
  await rules.armed();
  const [{ id } = { id: "" }] = await rules.list();
  const { code, out } = await run("rules");
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`^${id} +${SAYS} .* armed +never$`, "m"));
  expect(JSON.parse((await run("rules", "--json")).out)).toMatchObject([{ id, now: { state: "armed" } }]);
  const permissions = await run("permissions");
  expect(permissions).toMatchObject({ code: 0, out: expect.stringContaining(SAYS) });
  expect(permissions.out).toBe((await run("permissions", "list")).out);
});

test("a sentence and /rules list it line by line", async () => {
  const [{ id } = { id: "" }] = await rules.list();
  for (const says of ["list the rules", "/rules"]) {
    const lines = (await run("ask", says)).out.split("\n");
    expect(lines).toContain(`${id}: “${SAYS}” (ready)`);
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}When: Leak sensor: Water leak is wet/));
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}Leak sensor.*: dry$/));
  }
});

test("/away and /back are a person's word", async () => {
  expect((await run("ask", "/away")).out).toBe("You count as away.\n");
  await until(async () => (await rules.all()).away.length === 1, {
    within: ACTS_WITHIN_MS,
    what: "the person is away",
  });
  expect((await run("ask", "/back")).out).toBe("You count as being at home.\n");
  expect((await rules.all()).away).toEqual([]);
});

test("what takes a model says where the answer is", async () => {
  const { err } = await run("ask", "why did the water valve close?");
  expect(err).toContain("If you ask what happened here: see the console (Rules, Record).");
});

test("a paused one is listed as such, and a removed one is not", async () => {
  const [{ id } = { id: "" }] = await rules.list();
  expect((await run("rules", "pause", id)).err).toBe(`'${SAYS}' is paused\n`);
  expect((await run("rules")).out).toMatch(/ paused/);
  expect((await run("ask", "list the rules")).out).toContain("(paused");
  expect((await run("rules", "remove", id)).code).toBe(0);
  expect((await run("rules")).err).toContain("there is no rule");
});
