/** `edgecall doctor` checks token → gateway → bridge → broker → agent → model. It says which link is broken and what to do. */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { type Finding, fine, wrong } from "../service/checks/findings.ts";
import { type Connection, isOpenlySent, readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";
import {
  findAgents,
  findBridge,
  findBroker,
  findConditions,
  findGateway,
  findGroups,
  findHome,
  findModel,
  findUntrusted,
} from "./links.ts";
import { paintFor } from "./paint.ts";
import { printableLine } from "./printable.ts";
import { findPrograms } from "./programs.ts";
import { findSkills } from "./skills.ts";

/** Exit code 0: nothing is broken. */
export async function doctor(call: CommandCall): Promise<number> {
  const { io, env } = call;
  const [agent, ...more] = call.positionals;
  if (more.length > 0 || (agent !== undefined && !AGENT_ID.test(agent)))
    throw new UsageError("takes one agent's name at most");
  const findings: Finding[] = [];
  const paint = paintFor(io.terminal, env);
  for await (const finding of walk(env, agent, !call.flag("no-model"))) {
    findings.push(finding);
    // Each finding is shown at once: a model may take a minute.
    if (!call.flag("json")) io.out(line(finding, paint));
  }
  if (call.flag("json")) io.out(`${JSON.stringify(findings)}\n`);
  return findings.every(({ is }) => is !== "wrong") ? EXIT.ok : EXIT.failed;
}

/** Links behind a broken one are checked too where possible: an agent may be off while the model works. */
async function* walk(
  env: CommandCall["env"],
  agent: string | undefined,
  withModel: boolean,
): AsyncGenerator<Finding> {
  const connection = known(env);
  if ("link" in connection) return yield connection;
  const gateway = new Gateway(connection);
  const says = `${connection.url}, by ${connection.from}`;
  const openly = isOpenlySent(connection.url) ? "; not https: the token can be read on the way" : "";
  yield fine("settings", `${says}${openly}`);
  const reached = await findGateway(gateway);
  yield reached;
  if (reached.is === "wrong") return;
  const home = await findHome(gateway);
  yield home.finding;
  if (!home.status) return;
  const bridge = findBridge(home.status);
  yield bridge;
  yield* findConditions(home.status);
  if (bridge.is === "fine") {
    const agents = [...(await findAgents(gateway, home, agent)), ...findGroups(home.agents)];
    const pinged = home.agents.some(({ id, online }) => online && (agent === undefined || id === agent));
    // If no agent could be pinged, what came over the bridge still shows that it works.
    const isReached = home.agents.some(({ online }) => online) && (!pinged || agents.some(isAnswered));
    yield findBroker(home.status, home.agents, isReached);
    yield* agents;
    yield* await findUntrusted(gateway, agent);
    if (agent !== undefined && pinged && isReached) yield* await findSkills(gateway, agent);
  }
  yield* await findPrograms(gateway, Date.now());
  if (withModel) yield await findModel(gateway);
}

/** True if the agent answered, or is online and may not be asked. */
function isAnswered({ is }: Finding): boolean {
  return is !== "wrong";
}

function known(env: CommandCall["env"]): Connection | Finding {
  try {
    return readConnection(env);
  } catch (error) {
    const says = messageOf(error);
    return wrong("settings", says, "edgecall login https://edgecall.YOU.workers.dev");
  }
}

const SIGNS = { fine: "ok   ", wrong: "WRONG", left: "-    " } as const;
const STYLES = { fine: "green", wrong: "red", left: "dim" } as const;

function line({ link, is, says, todo }: Finding, paint: ReturnType<typeof paintFor>): string {
  const hint = todo === undefined ? "" : `${" ".repeat(15)}→ ${todo}\n`;
  return `${paint(STYLES[is], SIGNS[is])} ${link.padEnd(8)} ${printableLine(says)}\n${hint}`;
}
