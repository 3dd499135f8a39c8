/** For tests inside workerd: a home with an agent `pi` whose key is on record, anew for each test. */
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

/** To be called once, at the top of a test file. */
export function useKeyedHome(): KeyedHome {
  const home = new KeyedHome();
  beforeEach(() => home.begin());
  afterEach(reset);
  return home;
}

export class KeyedHome {
  #pi: SignedAgent | undefined;
  /** What pi has to obey. */
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

  /** A bridge that shows pi online. */
  async connect(): Promise<TestBridge> {
    const bridge = await TestBridge.dial();
    await bridge.hello();
    bridge.send({ t: "snapshot", agents: [await this.pi.state({ tools: [CPU] })], last: true });
    await until(async () => (await view("pi")).online, { what: "pi is online" });
    return bridge;
  }

  /** A command from the API on its way. */
  async commandOut(bridge: TestBridge): Promise<{ out: CallFrame; answer: Promise<Reply> }> {
    const before = bridge.calls().length;
    const answer = post("/v1/agents/pi/commands", { command: "ping" });
    return { out: await until(() => bridge.calls()[before], { what: "the call" }), answer };
  }

  /** A report of pi's through the bridge. @param by who signs it, where that is not pi */
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

/** Everything that the bridge said before is behind it. */
export async function passed(bridge: TestBridge): Promise<void> {
  const id = crypto.randomUUID();
  bridge.report(id, "nobody", {});
  await until(() => bridge.acks().includes(id), { what: "the home has read everything" });
}
