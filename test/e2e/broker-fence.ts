/**
 * A simulated paired agent that changes its description. Once the gateway shows the new description, it has seen
 * everything that was published before. An answered ping does not prove that, because the bridge collects changes
 * before it reports them.
 */
import type { MqttClient } from "mqtt";
import { SignedAgent } from "../signed-agent.ts";
import { until } from "../wait.ts";
import type { Agent, GatewayClient } from "./gateway-client.ts";

export const FENCE = "fence";

export class BrokerFence {
  readonly #gateway: GatewayClient;
  readonly #client: MqttClient;
  readonly #agent: SignedAgent;

  private constructor(gateway: GatewayClient, client: MqttClient, agent: SignedAgent) {
    this.#gateway = gateway;
    this.#client = client;
    this.#agent = agent;
  }

  /** @param client publishes what the tests wait for: the broker keeps the order within one client only */
  static async pair(gateway: GatewayClient, client: MqttClient): Promise<BrokerFence> {
    const agent = await SignedAgent.make(FENCE);
    const body = JSON.stringify({ public_key: agent.publicKey });
    const paired = await gateway.fetch(`/v1/agents/${FENCE}/key`, { method: "POST", body });
    if (!paired.ok) throw new Error(`the fence was not paired: ${await paired.text()}`);
    return new BrokerFence(gateway, client, agent);
  }

  /**
   * Waits until bridge and gateway have seen everything that the client published before.
   * @returns what the gateway showed at each look, because a device soon corrects what another client wrote in its
   * place
   */
  async passed(): Promise<Agent[][]> {
    const looks: Agent[][] = [];
    // The first description may be reported together with earlier changes, and before them. The second one comes later.
    for (const _ of [1, 2]) await this.#lineShown(looks);
    return looks;
  }

  async #lineShown(looks: Agent[][]): Promise<void> {
    const line = `line ${this.#agent.n}`;
    const advert = await this.#agent.say("capabilities", {
      agent_id: FENCE,
      capabilities: line,
      features: [],
    });
    const isShown = async () => {
      // Published repeatedly: a broker may drop it in a flood, and a bridge that is starting may not know the key yet.
      await this.#client.publishAsync(`evoclaw/agents/${FENCE}/capabilities`, advert, {
        qos: 1,
        retain: true,
      });
      const agents = await this.#gateway.agents().catch(() => undefined);
      if (agents) looks.push(agents);
      return agents?.some(({ id, capabilities }) => id === FENCE && capabilities === line);
    };
    await until(isShown, { within: 40_000, what: `the gateway shows '${line}' of the fence` });
  }
}
