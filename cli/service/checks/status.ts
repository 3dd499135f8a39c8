/** `edgecall agent status` and `edgecall bridge status` show service, connection, version and last errors. */

import type { AgentStatus, BridgeStatus, ServiceStatus } from "@edgecall/node/systemd/status.ts";
import type { UpdateOutcomes } from "@edgecall/node/systemd/update.ts";
import { EXIT, type Work } from "../../command.ts";
import { Releases } from "../releases/releases.ts";
import { type Says, type ServiceState, serviceState, whatItSays } from "../service-state.ts";
import { AGENT, BRIDGE, type Service } from "../services.ts";
import { isOnCommand, schedule } from "../units/update-units.ts";
import { readOutcomes } from "../updates/update-requests.ts";

type Versions = {
  current: string | null;
  previous: string | null;
  on_trial: boolean;
  rolled_back: string | null;
};

/** Updates without a person. */
type Updates = { on_command: boolean; scheduled: boolean; next: string | null; last: UpdateOutcomes };

const MIB = 1024 * 1024;

export const agentStatus = statusOf(AGENT, agentLines);
export const bridgeStatus = statusOf(BRIDGE, bridgeLines);

/** Exit code 0: the service is online. */
function statusOf<S extends ServiceStatus>(service: Service<S>, ownLines: (status: S) => string[]): Work {
  return async ({ flag, io }) => {
    const releases = new Releases(service.places.programs);
    const state = await serviceState(service.unit);
    const versions: Versions = {
      current: (await releases.current()) ?? null,
      previous: (await releases.previous()) ?? null,
      on_trial: releases.onTrial,
      rolled_back: (await releases.rolledBack()) ?? null,
    };
    const { on: scheduled, next } = await schedule(service);
    const updates: Updates = {
      ...{ on_command: await isOnCommand(service), scheduled, next },
      last: await readOutcomes(service),
    };
    const says = whatItSays(service);
    if (flag("json")) io.out(`${JSON.stringify(asJson(service, state, { versions, updates }, says))}\n`);
    else {
      const lines = [
        ...serviceLines(state, versions),
        ...updateLines(updates),
        ...saidLines(service, says, ownLines),
      ];
      io.out(`${lines.join("\n")}\n`);
    }
    return says.is === "read" && says.status.online ? EXIT.ok : EXIT.failed;
  };
}

function asJson(
  { name }: Service,
  state: ServiceState,
  program: { versions: Versions; updates: Updates },
  says: Says<ServiceStatus>,
) {
  const { memoryBytes, ...rest } = state;
  return {
    service: { ...rest, memory_bytes: memoryBytes },
    ...program,
    [name]: says.is === "read" ? says.status : null,
    ...(says.is === "unreadable" && { [`${name}_unreadable`]: says.why }),
  };
}

function serviceLines(state: ServiceState, versions: Versions): string[] {
  const { active, sub, enabled, restarts, result, memoryBytes } = state;
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
  ];
}

function updateLines({ on_command, scheduled, next, last: { asked, scheduled: timed } }: Updates): string[] {
  const night = scheduled ? [`at night${next === null ? "" : ` (next ${next})`}`] : [];
  const when = [...(on_command ? ["on command"] : []), ...night].join(", ") || "by hand";
  const lines = [asked, timed].flatMap((one) => (one?.done ? [`  ${one.at} ${one.text}`] : []));
  return [`updates   ${when}`, ...lines.sort()];
}

function saidLines<S extends ServiceStatus>(
  { name }: Service<S>,
  says: Says<S>,
  ownLines: (status: S) => string[],
): string[] {
  if (says.is === "not running") return [`${name.padEnd(9)} is not running`];
  if (says.is === "unreadable") return [`${name.padEnd(9)} cannot be asked: ${says.why}`];
  const errors = says.status.last_errors.map(({ ts, event, error }) => `  ${ts} ${event} ${error}`);
  return [...ownLines(says.status), ...errors];
}

/** The running agent's own lines. */
export function agentLines(status: AgentStatus): string[] {
  const { agent_id, version, online, since, broker, gateway, model, tools, unavailable } = status;
  return [
    `agent     ${agent_id}, ${version}, ${online ? "online" : "offline"} since ${since}, ${broker}`,
    ...(gateway === undefined ? [] : [`gateway   ${gateway.problem ?? gateway.version}`]),
    `tools     ${tools.length}, ${unavailable.length} not to be had here${model === null ? ", no model" : `, model ${model}`}`,
  ];
}

function bridgeLines({ bridge_id, version, online, since, ...links }: BridgeStatus) {
  const sides = [
    ["gateway", links.gateway],
    ["broker", links.broker],
    ["assistant", links.home_assistant],
  ] as const;
  return [
    `bridge    ${bridge_id}, ${version}, ${online ? "online" : "offline"} since ${since}`,
    ...sides.flatMap(([name, link]) =>
      link
        ? [`${name.padEnd(9)} ${link.url} ${link.up ? "is there" : (link.problem ?? "is not reached")}`]
        : [],
    ),
  ];
}
