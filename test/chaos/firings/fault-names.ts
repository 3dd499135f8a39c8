/** The faults around firings, by name. */

/** Of which firings a fault makes sense: those of an agent, those told in a chat app, those whose value comes over the broker. */
type Needs = "any" | "agent" | "chat" | "broker";
type Fault = { needs: Needs; what: string };

const fault = (needs: Needs, what: string): Fault => ({ needs, what });

export const FIRING_FAULTS = {
  "kill:worker": fault("any", "SIGKILL of the Worker's whole process group, started again at once"),
  "kill:workerd": fault("any", "SIGKILL of workerd alone; its parent starts it again"),
  "kill:workerd-twice": fault("any", "the same, and again as soon as it is back"),
  "kill:bridge": fault("broker", "SIGKILL of the bridge, started again at once"),
  "kill:agent": fault("agent", "SIGKILL of the agent, started again at once"),
  "kill:broker": fault("broker", "SIGKILL of Mosquitto; it comes back with what it kept on disk"),
  "away:broker": fault("broker", "the same; it comes back seconds later"),
  "away:gateway": fault("any", "the Worker is killed and comes back seconds later"),
  "away:bridge": fault("broker", "the bridge is killed and comes back seconds later"),
  "cut:gateway": fault("broker", "connections between bridge and Worker are reset, and refused for a while"),
  "cut:agent-broker": fault("agent", "the same between agent and broker"),
  "half-open:gateway": fault("broker", "bytes between bridge and Worker vanish; reset at the end"),
  "half-open:agent-broker": fault("agent", "the same between agent and broker"),
  power: fault("any", "SIGKILL of all programs at once, started again on the same storage"),
  "platform:refuses": fault("chat", "the chat platform answers 503 for a while"),
  "platform:limits": fault("chat", "it answers 429 with a time to wait"),
  "platform:dies": fault("chat", "connections to it are reset, and refused for a while"),
  "platform:loses": fault("chat", "it takes messages, and its answers are lost"),
} as const satisfies Record<string, Fault>;

export type FiringFault = keyof typeof FIRING_FAULTS;
export const FIRING_FAULT_NAMES = Object.keys(FIRING_FAULTS) as FiringFault[];
