/** `edgecall agent status`: service, connection, version, last errors. */
import { type CommandCall, EXIT } from "../command.ts";
import { placesBelow } from "./places.ts";
import { Releases } from "./releases.ts";
import { type AgentSays, agentSays, type ServiceState, serviceState } from "./service-state.ts";

type Status = {
  service: ServiceState;
  versions: {
    current: string | null;
    previous: string | null;
    on_trial: boolean;
    rolled_back: string | null;
  };
  agent: AgentSays;
};

const MIB = 1024 * 1024;

/** Exit code 0: it is online. */
export async function status({ flag, io }: CommandCall): Promise<number> {
  const places = placesBelow("/");
  const releases = new Releases(places.programs);
  const is: Status = {
    service: await serviceState(),
    versions: {
      current: (await releases.current()) ?? null,
      previous: (await releases.previous()) ?? null,
      on_trial: releases.onTrial,
      rolled_back: (await releases.rolledBack()) ?? null,
    },
    agent: agentSays(places),
  };
  io.out(flag("json") ? `${JSON.stringify(asJson(is))}\n` : `${lines(is).join("\n")}\n`);
  return is.agent.is === "read" && is.agent.status.online ? EXIT.ok : EXIT.failed;
}

function asJson({ service, versions, agent }: Status) {
  const { memoryBytes, ...rest } = service;
  return {
    service: { ...rest, memory_bytes: memoryBytes },
    versions,
    agent: agent.is === "read" ? agent.status : null,
    ...(agent.is === "unreadable" && { agent_unreadable: agent.why }),
  };
}

function lines({ service, versions, agent }: Status): string[] {
  const { active, sub, enabled, restarts, result, memoryBytes } = service;
  const memory = memoryBytes === null ? "" : `, ${Math.round(memoryBytes / MIB)} MiB`;
  const trouble = active === "active" || result === "success" ? "" : `, last end: ${result}`;
  return [
    `service   ${active} (${sub})${enabled ? "" : ", not started at boot"}, ${restarts} restarts${memory}${trouble}`,
    `version   ${versions.current ?? "not installed"}${versions.on_trial ? ", on trial" : ""}`,
    ...(versions.previous === null || versions.previous === versions.current
      ? []
      : [`before    ${versions.previous}`]),
    ...(versions.rolled_back === null
      ? []
      : [`went back from ${versions.rolled_back}: it did not come online`]),
    ...agentLines(agent),
  ];
}

function agentLines(agent: AgentSays): string[] {
  if (agent.is === "not running") return ["agent     is not running"];
  if (agent.is === "unreadable") return [`agent     cannot be asked: ${agent.why}`];
  const { agent_id, version, online, since, broker, model, tools, unavailable, last_errors } = agent.status;
  return [
    `agent     ${agent_id}, ${version}, ${online ? "online" : "offline"} since ${since}, ${broker}`,
    `tools     ${tools.length}, ${unavailable.length} not to be had here${model === null ? ", no model" : `, model ${model}`}`,
    ...last_errors.map(({ ts, event, error }) => `  ${ts} ${event} ${error}`),
  ];
}
