/** Rules that act of a stack's home: made in a conversation, allowed by an owner, and what the bridge says of them. */
import type { AutomationList, AutomationView } from "../../worker/features/automations/contract.ts";
import { byClock } from "../clock.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import type { GatewayClient } from "./gateway-client.ts";

const MADE_WITHIN_MS = 120_000;
/** After a start, or a new connection, nothing runs for a minute. */
export const ACTS_WITHIN_MS = byClock(180_000, 60_000);

type Turn = Awaited<ReturnType<GatewayClient["turns"]>>[number];

export class ActingRules {
  readonly #gateway: () => GatewayClient;

  /** @param gateway with the owner's token */
  constructor(gateway: () => GatewayClient) {
    this.#gateway = gateway;
  }

  /**
   * Has rules made in a conversation, and says yes to what is asked.
   * @param asker whose rules they are; the owner, if it is left out
   */
  async ask(conversation: string, inputs: readonly object[], asker = this.#gateway()): Promise<Turn> {
    const calls = inputs.map((one) => ({ name: "automate", arguments: one }));
    const text = script({ calls }, { text: "$results" });
    await asker.begin(text, conversation);
    const ended = async () => {
      await this.#approve();
      return (await asker.turns(conversation)).find((one) => one.text === text && one.status !== "running");
    };
    return await until(ended, { within: MADE_WITHIN_MS, every: 250, what: `the turn of ${conversation}` });
  }

  /** @throws when one was not made */
  async make(conversation: string, inputs: readonly object[], asker?: GatewayClient): Promise<void> {
    const turn = await this.ask(conversation, inputs, asker);
    const wrong = turn.calls.filter(({ status }) => status !== "success");
    if (wrong.length > 0 || turn.calls.length !== inputs.length)
      throw new Error(`not made: ${JSON.stringify(turn)}`);
  }

  async all(): Promise<AutomationList> {
    return (await (await this.#gateway().fetch("/v1/automations")).json()) as AutomationList;
  }

  async list(): Promise<AutomationView[]> {
    return (await this.all()).automations;
  }

  /** Waits until the bridge has all of them, and they wait for their step. */
  async armed(): Promise<void> {
    const isSo = async () => {
      const rules = await this.list();
      return rules.length > 0 && rules.every(({ now }) => now?.state === "armed");
    };
    await until(isSo, {
      within: ACTS_WITHIN_MS,
      every: 250,
      what: "the bridge has all rules, and they wait",
    });
  }

  async #approve(): Promise<void> {
    const gateway = this.#gateway();
    const { questions } = (await (await gateway.fetch("/v1/questions")).json()) as {
      questions: Array<{ id: string }>;
    };
    for (const { id } of questions) await gateway.answer(id, "approve");
  }
}
