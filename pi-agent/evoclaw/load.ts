/** What is loaded of EvoClaw once it is needed: the profile, the trades, and what its commands do. */
import type { Command } from "@edgecall/core/protocol/mqtt.ts";
import type { ProfileInForce } from "../calls/profile-in-force.ts";
import type { Reply } from "../link/reports.ts";
import { evolution } from "./evolution.ts";
import { execute } from "./execute.ts";
import { profileInForce } from "./in-force.ts";
import type { EvoClawCommand, EvoClawParts } from "./parts.ts";
import { type Judged, judge } from "./performance.ts";
import { Profile } from "./profile.ts";
import { Trades } from "./trades.ts";
import { updateGenome } from "./update-genome.ts";
import { updateStrategy } from "./update-strategy.ts";

export type Loaded = {
  inForce: ProfileInForce;
  judge(): Judged;
  run: Readonly<Record<EvoClawCommand, (command: Command) => Promise<Reply> | Reply>>;
};

/** @param changed called after each change of the profile */
export async function load(
  { settings, toolMetrics, installed, log }: EvoClawParts,
  changed: () => void,
): Promise<Loaded> {
  const profile = await Profile.open(settings.stateDir, log);
  profile.onChange(changed);
  const trades = new Trades();
  return {
    inForce: profileInForce(profile, settings),
    judge: () => judge(toolMetrics.read(), trades.list()),
    run: {
      execute: (command) => execute(command, settings),
      update_strategy: updateStrategy({ settings, profile }),
      update_genome: updateGenome({ settings, profile, installed }),
      evolution: evolution({ trades, toolMetrics, profile }),
    },
  };
}
