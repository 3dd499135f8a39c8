/** `edgecall status` shows the gateway, the bridge, the agents and the calls in flight; with --tools, each agent's tools. */
import { type CommandCall, EXIT } from "../command.ts";
import { readAgents } from "./agent-pages.ts";
import { readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";
import { paintFor, statusColumn } from "./paint.ts";
import { type Agent, Status, statusOf } from "./shapes.ts";
import { pairs, table } from "./table.ts";
import { ago, took } from "./times.ts";

/** Exit code 0: the bridge and at least one agent are online. */
export async function status({ flag, env, io }: CommandCall): Promise<number> {
  const gateway = new Gateway(readConnection(env));
  const [now, agents] = await Promise.all([
    gateway.json(Status, "GET /v1/status"),
    flag("tools") ? readAgents(gateway).then(({ agents }) => agents) : undefined,
  ]);
  if (flag("json")) io.out(`${JSON.stringify(agents ? { ...now, tools: toolsOf(agents) } : now)}\n`);
  else {
    io.out(pairs(overview(gateway.url, now)));
    if (now.calls.length > 0) io.out(`\n${callTable(now, io.width)}`);
    if (agents) io.out(`\n${toolTable(agents, io.width, paintFor(io.terminal, env))}`);
  }
  return now.bridge.online && now.agents.online > 0 ? EXIT.ok : EXIT.failed;
}

function overview(
  url: string,
  { home, version, bridge, agents, calls, audit }: Status,
): Array<[string, string]> {
  const since = bridge.connected_at === null ? "" : `, connected ${ago(bridge.connected_at, Date.now())}`;
  return [
    ["gateway", `${url}, ${version}, home '${home}'`],
    [
      "bridge",
      bridge.online
        ? `online, ${bridge.id ?? "?"} ${bridge.version ?? ""}${since}`
        : `offline, last seen ${ago(bridge.last_seen, Date.now())}`,
    ],
    ...(bridge.conditions?.flatMap(
      ({ text, cure }): Array<[string, string]> => [
        ["", text],
        ["", `→ ${cure}`],
      ],
    ) ?? (bridge.problem === undefined ? [] : [["", bridge.problem] as [string, string]])),
    ["agents", `${agents.online} of ${agents.known} online`],
    ...(agents.over === undefined
      ? []
      : [
          ["", `at least ${agents.over} more are not listed: a home has at most ${agents.max}`] as [
            string,
            string,
          ],
        ]),
    ["calls", calls.length === 0 ? "none in flight" : `${calls.length} in flight`],
    ...(audit === undefined ? [] : [["record", auditText(audit, Date.now())] as [string, string]]),
  ];
}

/** The progress of the record's copy to a database. */
export function auditText(
  { waiting, since, problem, lost }: NonNullable<Status["audit"]>,
  now: number,
): string {
  return [
    since === null
      ? "all of it is in its database"
      : `${Math.ceil(waiting / 1_024)} KiB wait for its database, the first came ${ago(since, now)}`,
    ...(problem === null ? [] : [problem]),
    ...(lost === 0 ? [] : [`${lost} lines were lost to it`]),
  ].join("; ");
}

function callTable({ calls }: Status, width: number | undefined): string {
  const columns = [
    { title: "AGENT", gives: true },
    { title: "COMMAND" },
    { title: "STATE" },
    { title: "SINCE" },
    { title: "ENDS IN", right: true },
    { title: "CALL", gives: true },
  ];
  const now = Date.now();
  const rows = calls.map(({ id, agent, command, state, since, deadline }) => [
    ...[agent, command, state, ago(since, now)],
    took(Math.max(0, deadline - now)),
    id,
  ]);
  return table(columns, rows, width);
}

function toolsOf(agents: readonly Agent[]) {
  return agents.map(({ id, online, actions, counts }) => ({ agent: id, online, ...counts, tools: actions }));
}

function toolTable(
  agents: readonly Agent[],
  width: number | undefined,
  paint: ReturnType<typeof paintFor>,
): string {
  const columns = [
    { title: "AGENT", gives: true },
    statusColumn(paint),
    { title: "CALLS", right: true },
    { title: "SUCCESS", right: true },
    { title: "ERROR", right: true },
    { title: "OPEN", right: true },
    { title: "TOOLS", gives: true },
  ];
  const rows = agents.map(({ id, online, status, counts, actions }) => [
    ...[id, statusOf({ online, status })],
    ...[counts.calls, counts.success, counts.error, counts.open].map(String),
    actions.length === 0 ? "only words" : `${actions.length}: ${actions.join(", ")}`,
  ]);
  return table(columns, rows, width);
}
