/** The faults around rules that act, by name. */

const ACTING_FAULTS = {
  none: "nothing: the machine alone",
  "kill:bridge": "SIGKILL of the bridge, started again at once",
  "away:bridge": "the bridge is killed and comes back seconds later",
  "kill:worker": "SIGKILL of the Worker's whole process group, started again at once",
  "kill:workerd": "SIGKILL of workerd alone; its parent starts it again",
  "away:gateway": "the Worker is killed and comes back seconds later",
  "kill:broker": "SIGKILL of Mosquitto; it comes back with what it kept on disk",
  "away:broker": "the same; it comes back seconds later",
  "cut:gateway": "connections between bridge and Worker are reset, and refused for a while",
  "half-open:gateway": "bytes between bridge and Worker vanish; reset at the end",
  "cut:broker": "connections between bridge and broker are reset, and refused for a while",
  "half-open:broker": "bytes between bridge and broker vanish; reset at the end",
  power: "all programs are killed at once, and the bridge's files are as the last sync left them",
  "power:twice": "the same, and again while the bridge starts",
  "disk:full": "the disk of the bridge's files is full for a while",
  "clock:ahead": "the bridge's clock is set 3 h ahead, and later back",
  "clock:back": "the bridge's clock is set 3 h back, and later ahead",
  "clock:kill": "the clock is set while the bridge is killed, so that it starts with another time",
  "away:publisher": "the devices' publisher says offline, and comes back seconds later",
  "deaf:device": "the devices take their commands and report nothing",
  "late:device": "the devices report when nobody waits any more",
  "kill:agent": "SIGKILL of the paired agent, started again at once",
  "away:agent": "the paired agent is killed and comes back seconds later",
  "cut:agent-broker":
    "connections between the paired agent and the broker are reset, and refused for a while",
} as const;

export type ActingFault = keyof typeof ACTING_FAULTS;
export const ACTING_FAULT_NAMES = Object.keys(ACTING_FAULTS) as ActingFault[];

/** Around an action of the paired agent. */
export function isOfAgent(fault: ActingFault): boolean {
  return fault.includes("agent");
}
