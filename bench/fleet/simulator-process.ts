/** The simulator of agents as the bench sees it. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { SimulatorSettings, SimulatorWord, Step } from "./protocol.ts";

const PROGRAM = fileURLToPath(new URL("./simulator.ts", import.meta.url));

export type Simulator = {
  /** Resolves when every agent has done it and the broker has it. */
  step(step: Step): Promise<void>;
  stop(): Promise<void>;
};

export async function startSimulator(settings: SimulatorSettings): Promise<Simulator> {
  const child = fork(PROGRAM, [JSON.stringify(settings)]);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const next = () =>
    new Promise<void>((resolve, reject) => {
      const onExit = () => reject(new Error("the simulator of agents ended"));
      child.once("exit", onExit);
      child.once("message", (word: SimulatorWord) => {
        child.off("exit", onExit);
        if ("failed" in word) reject(new Error(`the simulator of agents: ${word.failed}`));
        else resolve();
      });
    });
  await next();
  return {
    step(step) {
      const done = next();
      child.send(step);
      return done;
    },
    async stop() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
