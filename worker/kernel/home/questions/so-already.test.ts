/** A card says where a device reports already what the call would make of it. */
import { reset } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { device, hosting, READ, reading, reported, SET, UNLOCK } from "../../../../test/hosted-device.ts";
import { command } from "../../../../test/permission-home.ts";
import { openQuestions } from "../../../../test/turns.ts";

type Fact = { label: string; text: string };
type Listed = { agent: string; approval: { card: { facts: Fact[] } } };

afterEach(() => reset());

const SO = "It was so already.";
const door = device("front-door", {
  line: "lock",
  tools: [READ, { ...SET, name: "lock", parameters: { type: "object", properties: {} } }, UNLOCK],
});
const lock = (value: string) => reading("Lock", value, { kind: "lock" });
const light = (name: string, on: boolean) => reading(name, on, { kind: "light" });

test.each([
  ["a door that is unlocked is unlocked", "unlock", {}, [lock("unlocked")], true],
  ["a door that is locked is unlocked", "unlock", {}, [lock("locked")], false],
  ["one of two locks is unlocked", "unlock", {}, [lock("unlocked"), lock("locked")], false],
  [
    "a lock that does not answer is unlocked",
    "unlock",
    {},
    [{ ...lock("unlocked"), unavailable: true }],
    false,
  ],
])("%s: %s %j", async (_, tool, parameters, readings, isSo) => {
  const bridge = await hosting([door]);
  bridge.onStates = () => [reported("front-door", ...readings)];
  expect(await command("front-door", tool, parameters)).toBe("asks");
  expect((await nowFact()).includes(SO)).toBe(isSo);
});

test.each([
  ["a lamp that is on is switched on", { on: true }, true, true],
  ["a lamp that is on is switched off", { on: false }, true, false],
  ["a lamp that is on gets another brightness", { on: true, brightness_pct: 40 }, true, false],
])("%s", async (_, parameters, on, isSo) => {
  const bridge = await hosting([device("lamp")]);
  bridge.onStates = () => [reported("lamp", light("Light", on))];
  expect(await command("lamp", "set", parameters)).toBe("asks");
  expect((await nowFact()).includes(SO)).toBe(isSo);
});

async function nowFact(): Promise<string> {
  const [question] = (await openQuestions()) as unknown as Listed[];
  return question?.approval.card.facts.find(({ label }) => label === "When asked")?.text ?? "";
}
