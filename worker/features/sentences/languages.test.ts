/** What the gateway says beside a sentence's answer is in the sentence's language too. */

import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, test, vi } from "vitest";
import { device, hosting, READ, reading, reported } from "../../../test/hosted-device.ts";
import { languageFiles } from "../../../test/language-files.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { say } from "../../../test/workerd.ts";
import { whatsapp } from "../chat/platforms/whatsapp.ts";

afterEach(async () => {
  vi.restoreAllMocks();
  await reset();
});

test("a budget that is used up", async () => {
  setVariables({ ASSETS: languageFiles, BUDGET_TURN_MODEL_CALLS: "0" });
  await hosting([device("leselampe", { hosted: { name: "Leselampe" } })]);
  const { body } = await say("budget", "schalte die Flumbox ein");
  expect(body).toMatchObject({ status: "failed", error: { code: "budget" } });
  expect(body.answer).toMatch(/^Das Budget für eine Frage ist aufgebraucht: 0 von 0 Modellaufrufen\./);
  expect(body.answer).toContain("Das Wort „Flumbox“ kenne ich nicht.");
});

test("the commands of a chat", async () => {
  setVariables({ ASSETS: languageFiles, LLM_BASE_URL: "", LLM_MODEL: "", LLM_MODELS: "", AI: undefined });
  const bridge = await hosting([device("kuehltruhe", { tools: [READ], hosted: { name: "Kühltruhe" } })]);
  bridge.onStates = () => [
    reported(
      "kuehltruhe",
      reading("Temperature", -18.4, { unit: "°C", class: "temperature", at: Date.now() }),
    ),
  ];
  const told: string[] = [];
  vi.spyOn(whatsapp, "typing").mockImplementation(async () => undefined);
  vi.spyOn(whatsapp, "text").mockImplementation(async (_line, text) => {
    told.push(JSON.stringify(text));
    return `wamid.${told.length}`;
  });
  const chat = env.CONVERSATION.getByName("a/whatsapp/phone:492");
  type Received = Parameters<(typeof chat)["chat.receive"]>[0]["act"];
  const receives = async (id: string, act: Received) => {
    const before = told.length;
    const reply = { connection: "phone", to: "492", message: id };
    await chat["chat.receive"]({
      id,
      origin: { principal: "whatsapp:492", role: "member", channel: "whatsapp", reply },
      act,
    });
    await until(() => told.length > before, { what: "an answer in the chat" });
    return told.at(-1);
  };
  const command = (name: "help" | "new" | "stop" | "status" | "agents") =>
    ({ do: "command", command: { name, argument: "" } }) as const;
  expect(await receives("1", command("stop"))).toContain("Nothing is running.");
  const asked: Received = { do: "say", text: "wie warm ist die Kühltruhe?", pictures: [], merge: true };
  expect(await receives("2", asked)).toContain("Kühltruhe: −18,4 °C.");
  expect(await receives("3", command("stop"))).toContain("Gerade läuft nichts.");
  expect(await receives("4", command("help"))).toContain("/stop – beenden, was läuft");
  expect(await receives("5", command("status"))).toContain(
    "Das Zuhause ist verbunden. 1 von 1 Geräten ist online.",
  );
  expect(await receives("6", command("agents"))).toMatch(/● \S+ \(online\): /);
  expect(await receives("7", command("new"))).toContain("Ein neues Gespräch");
});
