/** The one line that a model reads of this agent, when agent.toml has none: the seed's table. */
export function defaultCapabilities(agentType: string, agentId: string): string {
  switch (agentType) {
    case "sensor":
    case "monitor":
      return `${agentId} sensor node — temperature, CPU/memory/disk stats, process monitoring, camera snapshot`;
    case "trader":
      return `${agentId} trading agent — market data, order execution, position management`;
    case "governance":
      return `${agentId} governance agent — on-chain voting, proposal management`;
    default:
      return `${agentId} edge agent`;
  }
}
