/** The common part of both services' units: start, trial, end and restrictions. */

import { OUTCOMES_VARIABLE } from "@edgecall/node/systemd/update.ts";
import { NODE_ENVIRONMENT } from "@edgecall/pi-agent/config/node-options.ts";
import { type Service, updateUnit } from "../services.ts";
import { CLOSED_TO_ALL, CLOSED_TO_NON_ROOT, OPEN_TO_NODE } from "./hardening.ts";

/** The first systemd with `RestartSteps`. Older ones wait the same time before each start. */
const GROWING_DELAYS_FROM = 254;

export type UnitParts = {
  description: string;
  /** Units of this machine that the service needs, if they exist. */
  after: string;
  /** The arguments of the program. */
  run: string;
  /** A comment that says when the program ends by itself for good. */
  ends: string;
  /** Lines of [Service] for memory and tasks. */
  bounds: readonly string[];
  /** Further lines of [Service], at the end, each group with its comment. */
  own: readonly string[];
};

/** @param programs the folder of the service's programs; another one only in tests */
export function unitOf(
  service: Service,
  { description, after, run, ends, bounds, own }: UnitParts,
  { systemd, programs = service.places.programs }: { systemd: number; programs?: string },
): string {
  const { name, unit, user, places } = service;
  const delays = systemd >= GROWING_DELAYS_FROM ? ["RestartSteps=6", "RestartMaxDelaySec=2min"] : [];
  const variables = Object.entries(NODE_ENVIRONMENT)
    .map(([variable, value]) => `${variable}=${value}`)
    .join(" ");
  return `# Made by "edgecall ${name} install"; changes of yours: systemctl edit ${unit}
[Unit]
Description=${description}
Wants=network-online.target
After=network-online.target ${after}
# It is tried for as long as it takes: a broker or a disk may come back after a week.
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
User=${user}
Group=${user}
# A new version is on trial until it was online once; else the one before it is started again.
ExecStartPre=+${programs}/trial begin
ExecStart=${programs}/launch ${programs}/current/edgecall ${run}
ExecStartPost=+${programs}/trial passed
# ${ends}
Restart=on-failure
RestartSec=5
${delays.join("\n")}
TimeoutStartSec=90
TimeoutStopSec=15
WatchdogSec=60
# A hung process is ended by a signal that would write all its memory to the card.
LimitCORE=0
# Node's memory. A single executable takes flags from here alone, and only some; a bundle's starter has the others.
Environment=NODE_OPTIONS=--max-semi-space-size=1 ${variables}
# It may ask to be updated, and reads here what came of it: see ${updateUnit(service)}.path.
Environment=${OUTCOMES_VARIABLE}=${places.updates}
StateDirectory=${places.state.split("/").at(-1)}
StateDirectoryMode=0700
RuntimeDirectory=${places.runtime.split("/").at(-1)}
RuntimeDirectoryMode=0750
UMask=0077

${bounds.join("\n")}

${CLOSED_TO_ALL}
${CLOSED_TO_NON_ROOT}
${OPEN_TO_NODE}
# MemoryDenyWriteExecute would end Node at its start.

${own.join("\n")}

[Install]
WantedBy=multi-user.target
`;
}
