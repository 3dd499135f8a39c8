/** Rules of a stack's home: made in a conversation, and what is told of them there. */
import { type Step, script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import type { Stack } from "./stack.ts";

/** The variables of a home in which rules are made. */
export const RULE_VARS = { GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" };

/** A message may wait for 30 s after another to the same people; the rest is for a busy machine. */
const TOLD_WITHIN_MS = 60_000;

/** As the API shows it, in part. */
export type ShownRule = {
  id: string;
  name: string;
  status: string;
  why: string | null;
  agent?: string | null;
  state?: string;
  history: Array<{ occurrence: number; at: number; until: number | null }>;
};

export class HomeRules {
  readonly #stack: Pick<Stack, "gateway">;

  constructor(stack: Pick<Stack, "gateway">) {
    this.#stack = stack;
  }

  /**
   * Has rules made in a conversation.
   * @returns the gateway's confirmations
   * @throws when one was not made
   */
  async make(conversation: string, ...calls: Array<{ name: "watch" | "remind"; arguments: object }>) {
    const steps: Step[] = calls.map((call) => ({ calls: [call] }));
    const turn = await this.#stack.gateway.ask(script(...steps, { text: "$results" }), conversation);
    const { rules = [] } = turn as { rules?: Array<{ text: string }> };
    if (rules.length !== calls.length) throw new Error(`not made: ${JSON.stringify(turn)}`);
    return rules.map(({ text }) => text);
  }

  async list(): Promise<ShownRule[]> {
    const response = await this.#stack.gateway.fetch("/v1/rules");
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return ((await response.json()) as { rules: ShownRule[] }).rules;
  }

  /** Returns what rules said in the conversation, the oldest first. */
  async told(conversation: string): Promise<string[]> {
    const turns = await this.#stack.gateway.turns(conversation);
    return turns.flatMap(({ text, answer }) => (text === "" ? [answer ?? ""] : []));
  }

  /** Waits until rules have said so many things in the conversation. */
  async toldCount(conversation: string, count: number, within = TOLD_WITHIN_MS): Promise<string[]> {
    const look = async () => {
      const told = await this.told(conversation).catch(() => []);
      return told.length >= count ? told : undefined;
    };
    return await until(look, { within, every: 250, what: `${count} messages in ${conversation}` });
  }
}
