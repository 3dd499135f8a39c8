/**
 * EvoClaw's commands, and the profile that they change. All else of this folder is loaded at the first of these commands, or at the
 * start of an agent that has a profile.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import { type ProfileInForce, unchanged } from "../calls/profile-in-force.ts";
import type { Loaded } from "./load.ts";
import { type EvoClawCommand, type EvoClawParts, PROFILE_FILE } from "./parts.ts";
import type { Judged } from "./performance.ts";

/** The commands, and whether one may run again after a crash. */
const COMMANDS = {
  execute: () => true,
  update_strategy: () => true,
  update_genome: () => true,
  evolution: ({ payload }) => payload.action !== "record_trade",
} as const satisfies Record<EvoClawCommand, (command: Command) => boolean>;

export class EvoClaw implements ProfileInForce {
  readonly commands: Readonly<Record<EvoClawCommand, CommandKind>>;
  readonly #parts: EvoClawParts;
  readonly #listeners = new Set<() => void>();
  #inForce: ProfileInForce;
  #loading: Promise<Loaded> | undefined;

  private constructor(parts: EvoClawParts) {
    this.#parts = parts;
    this.#inForce = unchanged(parts.settings);
    this.commands = {
      execute: this.#command("execute"),
      update_strategy: this.#command("update_strategy"),
      update_genome: this.#command("update_genome"),
      evolution: this.#command("evolution"),
    };
  }

  static async open(parts: EvoClawParts): Promise<EvoClaw> {
    const evoclaw = new EvoClaw(parts);
    if (existsSync(join(parts.settings.stateDir, PROFILE_FILE))) await evoclaw.#load();
    return evoclaw;
  }

  get version(): number {
    return this.#inForce.version;
  }

  get tuned(): ProfileInForce["tuned"] {
    return this.#inForce.tuned;
  }

  get style(): string {
    return this.#inForce.style;
  }

  leavesEnabled(skill: string): boolean {
    return this.#inForce.leavesEnabled(skill);
  }

  blocks(...call: Parameters<ProfileInForce["blocks"]>): boolean {
    return this.#inForce.blocks(...call);
  }

  /** Calls the listener after each change of the profile. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** This agent's performance figures, for `get_metrics`. */
  async judge(): Promise<Judged> {
    return (await this.#load()).judge();
  }

  #command(name: EvoClawCommand): CommandKind {
    return {
      kind: "work",
      idempotent: COMMANDS[name],
      run: async (call) => await (await this.#load()).run[name](call.command),
    };
  }

  #load(): Promise<Loaded> {
    this.#loading ??= this.#loaded();
    return this.#loading;
  }

  async #loaded(): Promise<Loaded> {
    const { load } = await import("./load.ts");
    const loaded = await load(this.#parts, () => {
      for (const listener of this.#listeners) listener();
    });
    this.#inForce = loaded.inForce;
    return loaded;
  }
}
