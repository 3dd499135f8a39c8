/** The long parts of the bench: many agents, many turns, many homes. */
import { type FleetPlan, type FleetResult, measureFleets } from "../fleet/measure.ts";
import { FLEET_NOTES, fleetTable } from "../fleet/table.ts";
import { type HomesFigures, type HomesPlan, measureHomes } from "../homes/measure.ts";
import { HOMES_NOTES, homesTable } from "../homes/table.ts";
import { measureSoak, type SoakFigures, type SoakPlan } from "../soak/measure.ts";
import { soakTable } from "../soak/table.ts";

export type ScalePlan = { fleets: FleetPlan; soak: SoakPlan; homes: HomesPlan };
export type Scale = { fleets: FleetResult[]; soak: SoakFigures; homes: HomesFigures };

export async function measureScale(
  dir: string,
  plan: ScalePlan,
  say: (line: string) => void,
): Promise<Scale> {
  say("fleets: many agents in one home");
  const fleets = await measureFleets(dir, plan.fleets, say);
  say(`soak: ${plan.soak.turns} turns through one stack`);
  const soak = await measureSoak(dir, plan.soak);
  say(`homes: ${plan.homes.homes} of them in one workerd`);
  const homes = await measureHomes(dir, plan.homes);
  return { fleets, soak, homes };
}

export function scaleTables({ fleets, soak, homes }: Scale): string {
  return [fleetTable(fleets), soakTable(soak), homesTable(homes)].join("\n\n");
}

export const SCALE_NOTES = [...FLEET_NOTES, ...HOMES_NOTES];
