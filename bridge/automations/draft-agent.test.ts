/** A draft about a paired agent names the key by which the gateway knows that agent. */
import { expect, test } from "vitest";
import { SignedAgent } from "../../test/signed-agent.ts";
import { until } from "../../test/wait.ts";
import { PlayedAgent } from "../testkit/agent.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

test("a step of a paired agent has its public key", async () => {
  const { home, broker } = played;
  const pi = await SignedAgent.make("pi");
  Object.assign(home, { keys: [{ id: "pi", key: pi.publicKey, n: 0 }], rules: true });
  await hosted.started();
  const agent = await PlayedAgent.silent("pi", broker.url);
  played.after(() => agent.stop());
  await agent.say("presence", await pi.say("presence", { state: "online" }), true);
  await agent.say(
    "capabilities",
    await pi.say("capabilities", { capabilities: "x", features: ["ack"] }),
    true,
  );
  const pump = { name: "pump", description: "Pumps", effect: "device", parameters: { type: "object" } };
  await agent.say("tools", await pi.say("tools", { hash: "h", tools: [pump] }), true);
  await until(() => JSON.stringify(home.frames).includes("Pumps"), { what: "the bridge knows its actions" });
  const input = { name: "Dry", at: "08:00", do: [{ agent_id: "pi", action: "pump" }] };
  const rule = { id: "a-00ff", version: 1 };
  home.send({
    t: "draft",
    draft: { id: "d-1", rule, input: JSON.stringify(input), zone: "Europe/Berlin", language: "en" },
  });
  const { drafted } = await home.next("drafted");
  expect(drafted).toMatchObject({ automation: { do: [{ of: "agent", key: pi.publicKey, agent: "pi" }] } });
});
