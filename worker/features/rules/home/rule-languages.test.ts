/** A rule speaks the language in which it was asked for, from its confirmation to the end of its firing. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { device, reading, reported } from "../../../../test/hosted-device.ts";
import { languageFiles } from "../../../../test/language-files.ts";
import { at, MINUTE, passUntil, ruleHome, T0, told } from "../../../../test/rule-clock.ts";
import { script } from "../../../../test/scripted-model.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { setVariables } from "../../../../test/variables.ts";
import { say, TestBridge } from "../../../../test/workerd.ts";
import type { HomeToolReply, HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import type { RulesApi } from "../rules-api.ts";

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

beforeEach(() => {
  setVariables({ GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin", ASSETS: languageFiles });
  at(T0);
});

async function run(
  name: "watch" | "remind" | "rules",
  args: HomeToolRequest["args"],
  language?: HomeToolRequest["language"],
): Promise<string> {
  const home = ruleHome() as unknown as Record<
    "calls.runTool",
    (request: HomeToolRequest) => Promise<HomeToolReply>
  >;
  const reply = await home["calls.runTool"]({
    id: crypto.randomUUID(),
    name,
    args,
    viewer: { name: "anna", role: "owner", scopes: ["ask"] },
    from: { conversation: "a/api/kitchen", call: "c", depth: 0 },
    origin: { principal: "anna", role: "owner", channel: "api" },
    sources: [],
    ...(language && { language }),
  });
  return "outcome" in reply ? (reply.outcome.shown?.text ?? reply.outcome.text ?? "") : "it waits";
}

const rulesNow = async () => {
  const rows = await rowsOf<{ rule: string }>(ruleHome(), "SELECT rule FROM rule");
  return rows.map(({ rule }) => JSON.parse(rule) as { id: string; language?: string });
};

test("a reminder: confirmed, listed and told late in German", async () => {
  await say("kitchen", script({ text: "ok" }));
  expect(await run("remind", { text: "Tee", in_minutes: 4 }, "de")).toBe(
    "Erinnerung für dich hier, einmal, um 09:04 am Di., 23. Nov. 2027 (Europe/Berlin): „Tee“.",
  );
  const [rule] = await rulesNow();
  expect(rule?.language).toBe("de");
  expect(await run("rules", { do: "list" }, "de")).toBe(
    `${rule?.id}: „Tee“ einmal, um 09:04 am Di., 23. Nov. 2027. Als Nächstes: 09:04.`,
  );
  // Another person's list is in that person's language.
  expect(await run("rules", { do: "list" })).toBe(
    `${rule?.id}: “Tee” once, Tue 23 Nov 2027, 09:04. Next: 09:04.`,
  );
  at(T0 + 10 * MINUTE);
  await passUntil(T0 + 10 * MINUTE);
  expect(await told("kitchen")).toEqual(["⏰ Tee (Fällig war das um 09:04.)"]);
});

test("a watch: its condition, its places and what it says for the console are German; the device's place gets no language", async () => {
  const bridge = await TestBridge.dial();
  bridge.onStates = () => [
    reported("freezer", reading("temperature", -18.2, { unit: "°C", at: Date.now() })),
  ];
  await bridge.hello(["devices", "kept", "rules"]);
  await bridge.snapshot([device("freezer", { line: "temperature" })]);
  const warm = { name: "Zu warm", agent_id: "freezer", reading: "temperature", is: "above", value: -15 };
  expect(await run("watch", warm, "de")).toBe(
    "Ich beobachte Freezer: „Zu warm“ geht an dich hier, sobald gilt: Temperatur ist über −15 °C, 1 min lang, höchstens alle 30 min. Jetzt: −18,2 °C.",
  );
  const home = ruleHome() as unknown as Record<"rules.list", RulesApi["list"]>;
  const { rules } = await home["rules.list"]({ name: "anna", role: "owner", scopes: ["ask"] });
  expect(rules[0]).toMatchObject({ condition: "Temperatur ist über −15 °C, 1 min lang", to: "dich hier" });
  const sent = bridge.received.filter((frame) => frame.t === "rules");
  expect(JSON.stringify(sent)).toContain('"reading":"temperature"');
  expect(JSON.stringify(sent)).not.toContain("language");
});

test("a language whose file is not there is told in English, and is kept", async () => {
  expect(await run("remind", { text: "tè", in_minutes: 4 }, "it")).toMatch(/^Reminds you here once, /);
  expect((await rulesNow())[0]?.language).toBe("it");
});

test("English is not stored, so that a gateway of before reads the rule as its own", async () => {
  await run("remind", { text: "tea", in_minutes: 4 }, "en");
  expect((await rulesNow())[0]).not.toHaveProperty("language");
});
