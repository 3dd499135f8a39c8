/** `edgecall agent status` shows the service; with `--config`, another agent as its broker knows it. */
import { readFileSync } from "node:fs";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import { topicOf } from "@edgecall/core/protocol/names.ts";
import { loadSettings } from "@edgecall/pi-agent/config/settings.ts";
import { checkBroker } from "@edgecall/pi-agent/service/broker-check.ts";
import { type CommandCall, EXIT } from "../command.ts";
import { agentStatus } from "../service/checks/status.ts";

/** Exit code 0: the agent is online. */
export async function status(call: CommandCall): Promise<number> {
  const file = call.text("config");
  return file === undefined ? await agentStatus(call) : await statusElsewhere(file, call);
}

/** @throws AgentSettingsError with a text for a person */
async function statusElsewhere(file: string, { env, io, flag }: CommandCall): Promise<number> {
  const { settings } = loadSettings(file, env);
  const { agentId: agent, mqtt } = settings;
  const check = await checkBroker(
    { ...mqtt, ca: mqtt.ca === undefined ? undefined : readFileSync(mqtt.ca) },
    topicOf(mqtt.topicPrefix, agent, "presence"),
  );
  const presence = check.is === "reached" ? check.presence : "none";
  const broker = { url: withoutLogin(mqtt.url), up: check.is === "reached" };
  if (flag("json")) io.out(`${JSON.stringify({ settings: file, agent, presence, broker })}\n`);
  else {
    const known = presence === "none" ? "has not heard of it" : `knows it as ${presence}`;
    const says = broker.up ? `is there, and ${known}` : "is not reached";
    io.out(`settings  ${file}\nagent     ${agent}\nbroker    ${broker.url} ${says}\n`);
  }
  return presence === "online" ? EXIT.ok : EXIT.failed;
}
