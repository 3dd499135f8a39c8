/** `edgecall readmit` lets a device in again whose numbers are old: its clock was ahead, and it lost its counter.json. */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { agentNamed } from "./agents.ts";
import { readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";

/** The device connects anew within a second or two. */
const WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 500;

/** Exit code 0: it is online. */
export async function readmit({ positionals, env, io }: CommandCall): Promise<number> {
  const [agent, ...more] = positionals;
  if (agent === undefined || more.length > 0 || !AGENT_ID.test(agent))
    throw new UsageError("takes one agent's name");
  const gateway = new Gateway(readConnection(env));
  await gateway.text("POST /v1/agents/{agent}/readmit", { path: { agent } });
  const end = performance.now() + WITHIN_MS;
  while (performance.now() < end) {
    if ((await agentNamed(gateway, agent)).online) {
      io.out(`${agent} is online\n`);
      return EXIT.ok;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  io.err(
    `${agent} was told, and is not online: a program before 0.4 does not obey this. Update it on the device (sudo edgecall agent update) and try again, or pair it again: edgecall pair --agent ${agent}\n`,
  );
  return EXIT.failed;
}
