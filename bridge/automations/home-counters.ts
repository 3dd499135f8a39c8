/** The limits of all rules of the home together, as the bridge counts them. */
import {
  beginFrom,
  type HomeCommands,
  heldUntil,
  withBeginning,
  withCommand,
  withHomeClockSet,
  withHomeRestart,
} from "@edgecall/core/automations/home-limits.ts";
import type { AutomationStep } from "@edgecall/core/protocol/automation.ts";

/** Times are epoch ms. */
export class HomeCounters {
  #commands: HomeCommands;

  constructor(commands: HomeCommands) {
    this.#commands = commands;
  }

  /** The part of the file. */
  get content(): HomeCommands {
    return this.#commands;
  }

  /** No run begins before it. */
  get beginFrom(): number {
    return beginFrom(this.#commands);
  }

  /** @returns until when limits hold a step back. It is never asked for ends. */
  heldUntil(step: AutomationStep, at: number): number {
    return heldUntil(this.#commands, step, at);
  }

  /** A run has begun. */
  begun(at: number): void {
    this.#commands = withBeginning(this.#commands, at);
  }

  /** A step is given out. */
  commanded(step: AutomationStep, at: number): void {
    this.#commands = withCommand(this.#commands, step, at);
  }

  /** The bridge began anew. */
  restarted(at: number): void {
    this.#commands = withHomeRestart(this.#commands, at);
  }

  /** The clock was set by so many ms. */
  clockSet(by: number): void {
    this.#commands = withHomeClockSet(this.#commands, by);
  }
}
