import { freePort } from "../../local/port.ts";
import { TOKENS, testVars } from "../../test/tokens.ts";
import { until } from "../../test/wait.ts";
import { areOnline, enrolAgents, writeAgentConfig, writeAgentProgram } from "../agents.ts";
import { type Endpoint, startEndpoint } from "../endpoint.ts";
import { startMosquitto } from "../mosquitto.ts";
import type { Processes } from "../processes.ts";
import { startBenchBridge, startBenchWorker } from "../started.ts";
import { type Asker, startAsker } from "../turns.ts";

/** The agent whose own loop calls others. */
export const ASKING = "asks";
/** The agents of two groups; of the second one the first agent is frozen. */
export const GROUPS = { trio: ["trio-1", "trio-2", "trio-3"], pair: ["pair-1", "pair-2"] } as const;
/** The agent that is called by name. */
export const NAMED = GROUPS.trio[0];
export const FREEZING = GROUPS.pair[0];
/** The borrowers' name for the home that lends. */
const LENDER = "work";
export const LENT = `${LENDER}/${NAMED}`;

export type AmongStack = {
  endpoint: Endpoint;
  /** The home of the agents; another home at its gateway; a home at another gateway. */
  askers: { own: Asker; neighbour: Asker; far: Asker };
  /** Returns how many turns of a conversation of the agents' home have ended. */
  endedTurns(conversation: string): Promise<number>;
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
};

export async function startAmong(dir: string, processes: Processes): Promise<AmongStack> {
  const endpoint = await startEndpoint();
  const gateway = async (name: string) => {
    const port = await freePort();
    const { worker } = await startBenchWorker(dir, name, {
      port,
      vars: {
        ...testVars,
        GATEWAY_TOOLS: "sessions",
        PUBLIC_URL: `http://127.0.0.1:${port}`,
        LLM_BASE_URL: endpoint.url,
        LLM_MODEL: "bench",
      },
    });
    return worker;
  };
  const [own, far] = [await gateway("among"), await gateway("among-far")];
  const mqttUrl = await startMosquitto(dir, processes, "among-broker");
  const gatewayOf = { gatewayUrl: own.url, mqttUrl, name: "among-bridge" };
  await startBenchBridge(dir, processes, gatewayOf);
  const program = await writeAgentProgram(dir);
  const groups = Object.entries(GROUPS).flatMap(([group, ids]) => ids.map((id) => ({ id, group })));
  const agents = [{ id: ASKING, group: undefined }, ...groups];
  await enrolAgents(
    own.url,
    dir,
    agents.map(({ id }) => id),
  );
  for (const { id, group } of agents) {
    const model = id === ASKING ? { LLM_BASE_URL: endpoint.url, LLM_MODEL: "bench" } : {};
    const config = writeAgentConfig(dir, mqttUrl, id, { group });
    await processes.start(id, [process.execPath, program, "--config", config], model);
  }
  const post = async (url: string, path: string, body: object, token = TOKENS.owner) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  await until(
    () =>
      areOnline(
        own.url,
        agents.map(({ id }) => id),
      ),
    { within: 30_000, what: "the agents are online" },
  );
  await until(
    async () => {
      const listed = { command: "tools_list", payload: {} };
      const report = await post(own.url, `/v1/agents/${ASKING}/commands`, listed).catch(() => ({}));
      return JSON.stringify(report).includes('"edge_call"');
    },
    { within: 15_000, what: `${ASKING} may call others` },
  );
  const lend = async (label: string, url: string, token?: string) => {
    const terms = { agents: [NAMED], scopes: ["ask", "command"], reads_only: true, expires_in_days: 1 };
    const { invitation } = await post(own.url, "/v1/lending", { label, ...terms });
    await post(url, "/v1/borrowing", { invitation, name: LENDER }, token);
  };
  await lend("neighbour", own.url, TOKENS.otherHome);
  await lend("far", far.url);

  const askers = {
    own: startAsker(own.url, endpoint, 1),
    neighbour: startAsker(own.url, endpoint, 1, TOKENS.otherHome),
    far: startAsker(far.url, endpoint, 1),
  };
  return {
    endpoint,
    askers,
    async endedTurns(conversation) {
      const response = await fetch(`${own.url}/v1/conversations/${conversation}`, {
        headers: { authorization: `Bearer ${TOKENS.owner}` },
      });
      const { turns } = (await response.json()) as { turns: Array<{ status: string }> };
      return turns.filter(({ status }) => status === "done").length;
    },
    freeze: () => process.kill(processes.pid(FREEZING), "SIGSTOP"),
    thaw: () => process.kill(processes.pid(FREEZING), "SIGCONT"),
    async stop() {
      for (const asker of Object.values(askers)) asker.close();
      const names = ["among-bridge", "among-broker", ...agents.map(({ id }) => id)];
      await Promise.all(names.map((name) => processes.end(name)));
      await Promise.all([own.stop(), far.stop()]);
      await endpoint.close();
    },
  };
}
