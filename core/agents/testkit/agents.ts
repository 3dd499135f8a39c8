/** One home of 1,000 agents for the test of the search: a family's house and four small fleets. */
import { actionsOf, type FixtureAction } from "./actions.ts";
import { fleetRows } from "./fleet-agents.ts";
import { HOUSE } from "./house-agents.ts";

export type FixtureAgent = { id: string; line: string; actions: FixtureAction[] };

export const FIXTURE_AGENTS: readonly FixtureAgent[] = [...HOUSE, ...fleetRows()].map(([id, make, line]) => ({
  id,
  line,
  actions: actionsOf(make),
}));
