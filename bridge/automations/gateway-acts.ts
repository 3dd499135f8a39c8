/**
 * Steps that the gateway carries out: actions of paired agents, and what asks a person at that moment. A request goes out again with the
 * same id until the gateway answers; the same id is the same call there.
 */
import type { ActOutcome, ActRequest } from "@edgecall/core/protocol/automation.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import type { GatewayLink } from "../gateway/gateway.ts";

const AGAIN_MS = windowMs(30_000, 1_000);
/** A person has 10 minutes to answer, and an agent its own time after that. */
const ANSWER_MS = 15 * 60_000;

type Waiting = {
  act: ActRequest;
  ended(outcome: ActOutcome): void;
  again: NodeJS.Timeout;
  over: NodeJS.Timeout;
};

export class GatewayActs {
  readonly #gateway: Pick<GatewayLink, "send">;
  readonly #waiting = new Map<string, Waiting>();
  #isUp = false;

  constructor(gateway: Pick<GatewayLink, "send">) {
    this.#gateway = gateway;
  }

  /** @returns false: the gateway is away, and nothing was sent */
  begin(act: ActRequest, ended: (outcome: ActOutcome) => void): boolean {
    if (this.#waiting.has(act.id)) return true;
    if (!this.#isUp || !this.#gateway.send({ t: "act", act })) return false;
    const again = setInterval(() => this.#send(act), AGAIN_MS);
    const over = setTimeout(
      () => this.#end(act.id, { outcome: "unknown", text: "the gateway did not answer" }),
      ANSWER_MS,
    );
    this.#waiting.set(act.id, { act, ended, again, over });
    return true;
  }

  /** @param isOurs whether the gateway is the home's */
  welcomed(isOurs: boolean): void {
    this.#isUp = isOurs;
    for (const { act } of this.#waiting.values()) this.#send(act);
  }

  /** The connection to the gateway is gone: requests wait for the next one. */
  gatewayLost(): void {
    this.#isUp = false;
  }

  /** The gateway says what became of a step. An answer that is not awaited is a repetition. */
  onActed({ id, acted }: Extract<HomeFrame, { t: "acted" }>): void {
    this.#end(id, acted);
  }

  /** Asks for nothing again, and ends no step. */
  stop(): void {
    for (const { again, over } of this.#waiting.values()) {
      clearInterval(again);
      clearTimeout(over);
    }
    this.#waiting.clear();
  }

  #send(act: ActRequest): void {
    if (this.#isUp) this.#gateway.send({ t: "act", act });
  }

  #end(id: string, outcome: ActOutcome): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    clearInterval(waiting.again);
    clearTimeout(waiting.over);
    waiting.ended(outcome);
  }
}
