/** Questions in words to hosted devices, through a stack's gateway, bridge and broker. */
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import type { Question } from "./gateway-client.ts";
import type { Stack } from "./stack.ts";

type Reading = { name: string; kind: string; text: string; value: unknown; unavailable?: boolean };
export type Device = {
  id: string;
  name: string;
  online: boolean;
  mode: string;
  /** A person allowed something else than what it is now. */
  changed: boolean;
  allow: string;
  actions: Array<{ name: string }>;
  readings: Reading[];
};

export class HostedDevices {
  readonly #stack: Pick<Stack, "gateway">;

  constructor(stack: Pick<Stack, "gateway">) {
    this.#stack = stack;
  }

  /** All of them, with all that they report. */
  async list(): Promise<Device[]> {
    const response = await this.#stack.gateway.fetch("/v1/devices?all=yes");
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return ((await response.json()) as { devices: Device[] }).devices;
  }

  /** Waits until the home has these devices, and they are online. */
  async known(ids: readonly string[]): Promise<void> {
    const have = async () => {
      const online = new Set((await this.list()).filter((device) => device.online).map(({ id }) => id));
      return ids.every((id) => online.has(id));
    };
    await until(have, { within: 60_000, every: 250, what: "the home has the devices" });
  }

  /** A person allows the device's changes. */
  async allow({ id, allow }: Device): Promise<void> {
    const body = JSON.stringify({ mode: "allowed", allow });
    const response = await this.#stack.gateway.fetch(`/v1/devices/${id}`, { method: "PATCH", body });
    if (!response.ok) throw new Error(`${id}: ${response.status} ${await response.text()}`);
  }

  /**
   * Asks a question for which the model calls one action. Whatever is asked of the person is approved.
   * @returns the call's result as the model read it, and why the person was asked, if so
   */
  async ask(agent_id: string, action: string, parameters: object = {}) {
    const { gateway } = this.#stack;
    const conversation = crypto.randomUUID();
    const question = script(
      { calls: [{ arguments: { agent_id, action, params: parameters } }] },
      { text: "$results" },
    );
    const turn = await gateway.begin(question, conversation);
    let reason: string | undefined;
    const ended = async () => {
      const asked = await this.#question(conversation);
      if (asked) {
        reason = asked.approval?.reason;
        await gateway.answer(asked.id, "approve");
      }
      const seen = (await gateway.turns(conversation)).find((one) => one.turn === turn);
      return seen && seen.status !== "running" ? seen : undefined;
    };
    const { answer, calls } = await until(ended, {
      within: 50_000,
      every: 150,
      what: `${agent_id} ${action} is answered`,
    });
    return { text: answer ?? "", status: calls[0]?.status, reason };
  }

  async #question(conversation: string): Promise<Question | undefined> {
    const response = await this.#stack.gateway.fetch("/v1/questions");
    const { questions } = (await response.json()) as { questions: Question[] };
    return questions.find((one) => one.conversation === conversation);
  }
}
