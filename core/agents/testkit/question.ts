/** What a person asks, and the agents that a careful reader of all lines would choose; any of them counts as right. */
export type FixtureQuestion = readonly [text: string, right: readonly string[]];
