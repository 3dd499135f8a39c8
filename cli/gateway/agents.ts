/** `edgecall agents` lists and finds agents; with a name, it shows that agent and its actions. */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { readAgents } from "./agent-pages.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { type Paint, paintFor, statusColumn } from "./paint.ts";
import { Actions, Agent, statusOf } from "./shapes.ts";
import { pairs, table } from "./table.ts";
import { ago } from "./times.ts";

/** Agents that a table shows unless `--limit` or `--all` says otherwise. */
const SHOWN = 200;

export async function agents(call: CommandCall): Promise<number> {
  const { positionals, flag, text, env, io } = call;
  const [id, ...more] = positionals;
  if (more.length > 0) throw new UsageError("takes one agent's name at most");
  const gateway = new Gateway(readConnection(env));
  if (id !== undefined) return await oneAgent(call, gateway, id);
  const filter = { words: text("search"), online: flag("online") };
  const isFiltered = filter.words !== undefined || filter.online;
  const most = mostOf(call);
  const { agents: some, total } = await readAgents(gateway, { filter, ...(most !== undefined && { most }) });
  if (flag("json")) io.out(`${JSON.stringify(some)}\n`);
  else if (some.length === 0 && isFiltered) io.err("no agent matches\n");
  else if (some.length === 0)
    io.err("this home knows no agent yet: docs/guides/first-pi.md tells how to add one\n");
  else io.out(roster(some, io.width, paintFor(io.terminal, env)));
  if (total > some.length)
    io.err(`and ${total - some.length} more: --all lists them, --search WORDS finds some\n`);
  return EXIT.ok;
}

/** A program gets all, unless it says how many. @returns undefined: all */
function mostOf({ flag, text }: CommandCall): number | undefined {
  const limit = text("limit");
  if (limit === undefined) return flag("all") || flag("json") ? undefined : SHOWN;
  if (!/^[1-9]\d{0,5}$/.test(limit)) throw new UsageError(`--limit: "${limit}" is no number of agents`);
  return Number(limit);
}

function roster(all: readonly Agent[], width: number | undefined, paint: Paint): string {
  const columns = [
    { title: "AGENT", gives: true },
    statusColumn(paint),
    { title: "LAST SEEN" },
    { title: "LAST ACTIVE" },
    { title: "CALLS", right: true },
    { title: "ERRORS", right: true },
    { title: "VERSION", gives: true },
    { title: "CAPABILITIES", gives: true },
  ];
  const now = Date.now();
  const rows = all.map((agent) => [
    ...[agent.id, statusOf(agent)],
    ...[ago(agent.last_seen, now), ago(agent.last_active, now)],
    ...[String(agent.counts.calls), String(agent.counts.error)],
    agent.version ?? (agent.foreign ? "foreign" : ""),
    agent.problem ?? (agent.online || agent.reason === undefined ? agent.capabilities : agent.reason),
  ]);
  return table(columns, rows, width);
}

async function oneAgent({ flag, env, io }: CommandCall, gateway: Gateway, id: string): Promise<number> {
  const agent = await agentNamed(gateway, id);
  const { actions, why } = await gateway
    .json(Actions, "GET /v1/console/agents/{agent}/actions", { path: { agent: id } })
    .then(({ actions }) => ({ actions, why: "" }))
    .catch(withoutScope);
  if (flag("json")) {
    io.out(`${JSON.stringify({ ...agent, ...(actions && { actions }) })}\n`);
    return EXIT.ok;
  }
  const paint = paintFor(io.terminal, env);
  io.out(pairs(facts(agent)));
  if (actions === undefined) io.out(`\nactions: ${agent.actions.join(", ")}\n(${why})\n`);
  else if (actions.length === 0) io.out("\nIt advertises no actions: it is asked in words.\n");
  else {
    const columns = [
      { title: "ACTION" },
      { title: "EFFECT", paint: (cell: string) => (cell.startsWith("read") ? cell : paint("yellow", cell)) },
      { title: "DESCRIPTION", gives: true },
    ];
    const rows = actions.map(({ name, effect, description }) => [name, effect ?? "", description]);
    io.out(`\n${table(columns, rows, io.width)}`);
  }
  return EXIT.ok;
}

/** Finds one agent. @throws with a text for a person when there is none of this name */
export async function agentNamed(gateway: Gateway, id: string): Promise<Agent> {
  if (!AGENT_ID.test(id)) throw new UsageError(`"${id}" is no agent's name`);
  return await gateway.json(Agent, "GET /v1/agents/{agent}", { path: { agent: id } }).catch(named);
}

function facts(agent: Agent): Array<[string, string]> {
  const now = Date.now();
  const { calls, success, error, open } = agent.counts;
  return [
    ["agent", agent.id],
    ["status", `${statusOf(agent)}${agent.online || agent.reason === undefined ? "" : `: ${agent.reason}`}`],
    ...(agent.group === undefined ? [] : [["group", agent.group] as [string, string]]),
    ["last seen", ago(agent.last_seen, now)],
    ["last active", ago(agent.last_active, now)],
    ["program", [agent.type, agent.version, agent.foreign ? "(foreign)" : ""].filter(Boolean).join(" ")],
    ["capabilities", agent.capabilities],
    ["calls", `${calls}: ${success} success, ${error} error, ${open} open`],
    ...(agent.conditions ?? (agent.problem === undefined ? [] : [{ text: agent.problem, cure: "" }])).flatMap(
      ({ text, cure }): Array<[string, string]> => [
        ["problem", text],
        ...(cure === "" ? [] : [["", `→ ${cure}`] as [string, string]]),
      ],
    ),
  ];
}

function named(error: unknown): never {
  if (error instanceof GatewayError && error.kind === "not_found") {
    throw new Error(`${error.message}; \`edgecall agents\` lists those that there are`);
  }
  throw error;
}

/** A token that may not send commands still gets the names. */
function withoutScope(error: unknown): { actions: undefined; why: string } {
  if (error instanceof GatewayError && error.kind === "forbidden")
    return { actions: undefined, why: error.message };
  throw error;
}
