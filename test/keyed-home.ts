/** For tests inside workerd: a new home for each test, with an agent `pi` whose key is registered. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach } from "vitest";
import { SignedAgent } from "./signed-agent.ts";
import { until } from "./wait.ts";
import { ask, type CallFrame, CPU, TestBridge } from "./workerd.ts";

export type Reply = {
  status: number;
  body: Record<string, unknown> & { error?: { code: string; message: string } };
};
type View = { online: boolean; reason?: string; problem?: string; capabilities: string; actions: string[] };

/** Call it once, at the top of a test file. */
export function useKeyedHome(): KeyedHome {
  const home = new KeyedHome();
  beforeEach(() => home.begin());
  afterEach(reset);
  return home;
}

export class KeyedHome {
  #pi: SignedAgent | undefined;
  /** The key whose commands pi accepts. */
  gatewayKey = "";

  get pi(): SignedAgent {
    if (!this.#pi) throw new Error("no test has begun");
    return this.#pi;
  }

  async begin(): Promise<void> {
    const pi = await SignedAgent.make("pi");
    this.#pi = pi;
    const { status, body } = await post("/v1/agents/pi/key", { public_key: pi.publicKey, name: "Shed" });
    if (status !== 200) throw new Error(`no key for pi: ${status} ${JSON.stringify(body)}`);
    this.gatewayKey = String(body.gateway_key);
  }

  /** Connects a bridge that reports pi as online. */
  async connect(features?: string[]): Promise<TestBridge> {
    const bridge = await TestBridge.dial();
    await bridge.hello(features);
    bridge.send({ t: "snapshot", agents: [await this.pi.state({ tools: [CPU] })], last: true });
    await until(async () => (await view("pi")).online, { what: "pi is online" });
    return bridge;
  }

  /** Sends a command through the API, and returns its call frame. */
  async commandOut(bridge: TestBridge): Promise<{ out: CallFrame; answer: Promise<Reply> }> {
    const before = bridge.calls().length;
    const answer = post("/v1/agents/pi/commands", { command: "ping" });
    return { out: await until(() => bridge.calls()[before], { what: "the call" }), answer };
  }

  /** Sends a report of pi through the bridge. @param by the signer; absent = pi */
  async report(
    bridge: TestBridge,
    id: string,
    payload: Record<string, unknown>,
    by = this.pi,
  ): Promise<void> {
    bridge.send({ t: "report", id, agent: "pi", payload: await by.report(id, payload) });
  }
}

export async function call(path: string, init: Parameters<typeof ask>[1] = {}): Promise<Reply> {
  const response = await ask(path, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Reply["body"]) };
}

export const post = (path: string, body: unknown, token?: string) =>
  call(path, { method: "POST", body: JSON.stringify(body), ...(token && { token }) });

export const view = async (id: string) => (await call(`/v1/agents/${id}`)).body as unknown as View;

/** Resolves when Home has handled everything that the bridge sent before. */
export async function passed(bridge: TestBridge): Promise<void> {
  const id = crypto.randomUUID();
  bridge.report(id, "nobody", {});
  await until(() => bridge.acks().includes(id), { what: "the home has read everything" });
}
