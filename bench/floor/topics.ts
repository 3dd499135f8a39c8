/** Topics of the two floors; none of them is an agent's, so no bridge of ours listens. */
export const FLOOR_COMMANDS = "bench-floor/commands";
/** Each asker has its own answers: the bench itself for floor 1, the floor's bridge for floor 2. */
export const floorReports = (asker: "mqtt" | "bridge") => `bench-floor/reports/${asker}`;

export type FloorCommand = { id: string; asker: "mqtt" | "bridge"; payload: string };
export type FloorReport = { id: string; payload: string };
