/** The topics of the two floors. They are no agent's topics, so our bridge does not read them. */
export const FLOOR_COMMANDS = "bench-floor/commands";
/** Each sender of commands has its own answers: the bench itself for floor 1, the floor's bridge for floor 2. */
export const floorReports = (asker: "mqtt" | "bridge") => `bench-floor/reports/${asker}`;

export type FloorCommand = { id: string; asker: "mqtt" | "bridge"; payload: string };
export type FloorReport = { id: string; payload: string };
