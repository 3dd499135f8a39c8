/** What an orchestrator taught this agent (strategies, a genome): validated, and kept over restarts. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { type Log, messageOf } from "./log.ts";
import { writeWhole } from "./whole-file.ts";

const share = z.number().check(z.minimum(0), z.maximum(1));
const params = z.record(z.string(), z.unknown());

/** EvoClaw's genome: identity, skills, behaviour, constraints. Unknown fields are kept: they are a newer peer's. */
const Genome = z.looseObject({
  identity: z.looseObject({
    name: z.string().check(z.minLength(1), z.maxLength(200)),
    persona: z.string(),
    voice: z.string(),
  }),
  skills: z.record(
    z.string(),
    z.looseObject({
      enabled: z.boolean(),
      weight: z.optional(share),
      strategies: z.optional(z.array(z.string())),
      params,
    }),
  ),
  behavior: z.looseObject({ risk_tolerance: share, verbosity: share, autonomy: share }),
  constraints: z.looseObject({
    max_loss_usd: z.optional(z.number()),
    blocked_actions: z.optional(z.array(z.string())),
  }),
});
export type Genome = z.infer<typeof Genome>;

const Stored = z.looseObject({
  strategies: z.record(z.string(), params),
  genome: z.optional(Genome),
});
type Stored = z.infer<typeof Stored>;

/** A genome or a strategy is small; more is a mistake or an attack on the SD card. */
export const PROFILE_MAX_BYTES = 64 * 1024;

export class Profile {
  readonly #path: string;
  #stored: Stored;

  private constructor(path: string, stored: Stored) {
    this.#path = path;
    this.#stored = stored;
  }

  static async open(stateDir: string, log: Log): Promise<Profile> {
    const path = join(stateDir, "profile.json");
    const empty: Stored = { strategies: {} };
    try {
      const read = checkJson(Stored, await readFile(path, "utf8"));
      if (read.ok) return new Profile(path, read.value);
      log("error", "profile.unreadable", { error: read.error });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
        log("error", "profile.unreadable", { error: messageOf(error) });
      }
    }
    return new Profile(path, empty);
  }

  get strategies(): Record<string, Record<string, unknown>> {
    return this.#stored.strategies;
  }

  get genome(): Genome | undefined {
    return this.#stored.genome;
  }

  /** @throws when it cannot be kept */
  async setStrategy(name: string, values: Record<string, unknown>): Promise<void> {
    await this.#save({ ...this.#stored, strategies: { ...this.#stored.strategies, [name]: values } });
  }

  /** @throws when it cannot be kept */
  async resetStrategies(): Promise<void> {
    await this.#save({ ...this.#stored, strategies: {} });
  }

  /** @throws with the wrong field named, or when it cannot be kept */
  async setGenome(value: unknown): Promise<Genome> {
    const genome = check(Genome, value);
    if (!genome.ok) throw new Error(`invalid genome: ${genome.error}`);
    await this.#save({ ...this.#stored, genome: genome.value });
    return genome.value;
  }

  async #save(next: Stored): Promise<void> {
    const text = JSON.stringify(next);
    if (Buffer.byteLength(text) > PROFILE_MAX_BYTES) {
      throw new Error(`too large: strategies and genome together may have ${PROFILE_MAX_BYTES} bytes`);
    }
    await writeWhole(this.#path, text);
    this.#stored = next;
  }
}
