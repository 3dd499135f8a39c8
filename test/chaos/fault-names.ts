/** The faults by name, with their targets and if the recovery is timed. */

/** A target has at most one fault at a time. For agents and their links, it is the agent of the fault. */
export type Target = "worker" | "bridge" | "agent" | "broker" | "lender" | LinkName | "disk";
type LinkName = "link:client" | "link:gateway" | "link:bridge-broker" | "link:agent-broker" | "link:peer";

type FaultKind =
  | "kill"
  | "freeze"
  | "cut"
  | "half-open"
  | "slow"
  | "duplicate"
  | "reorder"
  | "replay"
  | "strike"
  | "fill";

type Fault = { kind: FaultKind; target: Target; timed: boolean; what: string };

const kill = (target: Target, what: string): Fault => ({ kind: "kill", target, timed: true, what });
const fault = (kind: FaultKind, target: Target, what: string): Fault => ({
  kind,
  target,
  timed: false,
  what,
});

export const FAULTS = {
  "kill:worker": kill("worker", "SIGKILL of the Worker's whole process group, started again at once"),
  "kill:workerd": kill("worker", "SIGKILL of workerd alone; its parent starts it again"),
  "kill:bridge": kill("bridge", "SIGKILL of the bridge, started again at once"),
  "kill:agent": kill("agent", "SIGKILL of an agent, started again at once"),
  "kill:broker": kill("broker", "SIGKILL of Mosquitto; it comes back with what it kept on disk"),
  "kill:broker-empty": kill("broker", "SIGKILL of Mosquitto; it comes back with nothing"),
  "freeze:worker": fault("freeze", "worker", "SIGSTOP, later SIGCONT"),
  "freeze:bridge": fault("freeze", "bridge", "SIGSTOP, later SIGCONT"),
  "freeze:agent": fault("freeze", "agent", "SIGSTOP, later SIGCONT"),
  "freeze:broker": fault("freeze", "broker", "SIGSTOP, later SIGCONT"),
  "cut:client": fault("cut", "link:client", "connections reset, new ones refused for a while"),
  "cut:gateway": fault("cut", "link:gateway", "the same between bridge and Worker"),
  "cut:bridge-broker": fault("cut", "link:bridge-broker", "the same between bridge and broker"),
  "cut:agent-broker": fault("cut", "link:agent-broker", "the same between an agent and the broker"),
  "half-open:client": fault("half-open", "link:client", "bytes vanish, one way or both; reset at the end"),
  "half-open:gateway": fault("half-open", "link:gateway", "the same between bridge and Worker"),
  "half-open:bridge-broker": fault("half-open", "link:bridge-broker", "the same between bridge and broker"),
  "half-open:agent-broker": fault("half-open", "link:agent-broker", "the same between agent and broker"),
  "slow:client": fault("slow", "link:client", "50 to 800 ms more each way"),
  "slow:gateway": fault("slow", "link:gateway", "the same between bridge and Worker"),
  "slow:bridge-broker": fault("slow", "link:bridge-broker", "the same between bridge and broker"),
  "slow:agent-broker": fault("slow", "link:agent-broker", "the same between agent and broker"),
  "duplicate:commands": fault("duplicate", "link:agent-broker", "each command reaches the agent twice"),
  "duplicate:reports": fault("duplicate", "link:agent-broker", "each report is published twice"),
  "replay:commands": fault("replay", "link:agent-broker", "commands come once more, seconds later"),
  "replay:reports": fault("replay", "link:agent-broker", "reports are published once more, seconds later"),
  "reorder:commands": fault("reorder", "link:agent-broker", "a command is overtaken by the next one"),
  "reorder:reports": fault("reorder", "link:agent-broker", "a report is overtaken by the next one"),
  "strike:command": fault("strike", "worker", "workerd is killed when a command reaches its agent"),
  "strike:report": fault("strike", "worker", "workerd is killed up to 15 ms after a report left its agent"),
  "strike:both": fault(
    "strike",
    "worker",
    "workerd and the bridge are killed when a command reaches its agent",
  ),
  "kill:lender": fault(
    "kill",
    "lender",
    "SIGKILL of the Worker of the home that lends, started again at once",
  ),
  "cut:peer": fault("cut", "link:peer", "the same between the two homes' Workers"),
  "half-open:peer": fault("half-open", "link:peer", "the same between the two homes' Workers"),
  "slow:peer": fault("slow", "link:peer", "the same between the two homes' Workers"),
  "fill:disk": fault("fill", "disk", "the agent's disk is full for a while"),
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/**
 * @param list names or kinds, separated by commas: `kill,cut:gateway`
 * @throws an error that names what matches nothing
 */
export function chooseFaults(list: string): FaultName[] {
  return chooseFrom(FAULT_NAMES, list);
}

/** The same among other names. */
export function chooseFrom<Name extends string>(names: readonly Name[], list: string): Name[] {
  const wanted = list.split(",").map((part) => part.trim());
  const chosen = wanted.flatMap((part) => {
    const fits = names.filter((name) => name === part || name.startsWith(`${part}:`));
    if (fits.length === 0)
      throw new Error(`--faults: no fault is called '${part}'; there are: ${names.join(", ")}`);
    return fits;
  });
  return [...new Set(chosen)];
}
