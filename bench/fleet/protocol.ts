/** What the bench and its simulator of agents say to each other. */

/** The texts that a pi-agent publishes about itself, without stamp and signature. */
export type Adverts = { capabilities: string; tools: string };

export type SimulatorSettings = {
  mqttUrl: string;
  gatewayUrl: string;
  /** An administrator's, to pair the agents. */
  token: string;
  count: number;
  adverts: Adverts;
};

/** `pair`: enrols every key. `birth`: all publish adverts and presence. `drop`: all last wills. */
export type Step = "pair" | "birth" | "drop";

/** What comes back: the simulator is connected, or a step is done. */
export type SimulatorWord = { done: Step | "start" } | { failed: string };
