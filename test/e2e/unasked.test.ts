/** An EvoClaw agent, played by a client of a real broker, says something of its own accord: the owner's chat has it. */
import { afterAll, expect, test } from "vitest";
import { PlayedAgent } from "../../bridge/testkit/agent.ts";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { OWNER, onTelegram } from "../platforms/people.ts";
import { waitForText } from "../platforms/waiting.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { useStack } from "./stack.ts";

const vars: Record<string, string> = { ALLOW_UNSIGNED_AGENTS: "evo mute", UNASKED_REPORTS: "evo" };
// Without Mosquitto the embedded broker takes its place.
const stack = useStack({ mosquitto: findMosquitto(), vars });
const telegram = await onTelegram((path, init) => fetch(`${stack.gateway.url}${path}`, init));
vars.CHANNELS = JSON.stringify([telegram.settings]);
const played: PlayedAgent[] = [];
afterAll(async () => {
  await Promise.all(played.map((agent) => agent.stop()));
  await telegram.server.close();
});

async function foreign(id: string): Promise<PlayedAgent> {
  const agent = await PlayedAgent.foreign(id, stack.mqttUrl);
  played.push(agent);
  await stack.gateway.online(id);
  return agent;
}

/** As its price monitor reports (skills/price_monitor.rs in agent.rs' `skill_report`). */
const alert = (agent: PlayedAgent, message: string) =>
  agent.report("skill_report", {
    skill: "price_monitor",
    report_type: "alert",
    payload: { alert: "price_target", symbol: "BTC", message },
  });
const figures = (agent: PlayedAgent) =>
  agent.report("skill_report", {
    skill: "price_monitor",
    report_type: "metric",
    payload: { prices: { BTC: 51_000 }, symbols_tracked: 1 },
  });

test("the owner's chat is told, without a model; an agent that the setting does not name tells nobody", async () => {
  const [evo, mute] = [await foreign("evo"), await foreign("mute")];
  const sent = await telegram.say(script({ text: "hello" }), OWNER);
  await waitForText(sent, "hello");
  const asked = stack.model.requests.length;
  await figures(evo);
  await alert(mute, "nobody hears this");
  await alert(evo, "BTC hit above target 50000.00\n(current: 51000.00)");
  await waitForText(sent, "evo says: “BTC hit above target 50000.00 (current: 51000.00)”");
  // A message without a skill, in the bare form that EvoClaw's orchestrator takes; it may come with others of its half minute.
  await evo.say("reports", { agent_id: "evo", content: "I was restarted" });
  await waitForText(sent, "evo says: “I was restarted”", 60_000);
  expect(sent.messages().filter(({ text }) => text.includes("nobody hears this"))).toEqual([]);
  expect(stack.model.requests.length).toBe(asked);
}, 120_000);

test("a call to it is answered as before, and what it says meanwhile is no answer", async () => {
  const evo = played[0] ?? (await foreign("evo"));
  const asking = stack.gateway.ask(
    script(
      { calls: [{ arguments: { agent_id: "evo", query: "How warm is it?" } }] },
      { text: "It says: $results" },
    ),
  );
  const command = await until(() => evo.commands.find(({ command }) => command === "prompt"));
  await alert(evo, "ETH moved 6.0%");
  await evo.report("result", { status: "success", content: "19 degrees", request_id: command.request_id });
  expect(await asking).toMatchObject({ status: "done", answer: expect.stringContaining("19 degrees") });
}, 120_000);
