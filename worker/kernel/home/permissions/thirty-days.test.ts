/**
 * The home in which the questions of 30 days are counted (test/approvals) asks where the gateway asks: the first days go through both, call
 * by call, and then calls that are injected. Each comes in by the door of its kind, on a clock that the test sets.
 */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { afterEach, expect, test, vi } from "vitest";
import adverts from "../../../../test/approvals/adverts.json" with { type: "json" };
import { chatOf, MatchingHome } from "../../../../test/approvals/matching-home.ts";
import { type HomeToMeasure, happen } from "../../../../test/approvals/measure.ts";
import { type Event, injectedCalls, PEOPLE, thirtyDays } from "../../../../test/approvals/workload.ts";
import { device, hosting } from "../../../../test/hosted-device.ts";
import { post } from "../../../../test/keyed-home.ts";
import { SignIn } from "../../../../test/oauth-sign-in.ts";
import { at } from "../../../../test/rule-clock.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { rowsOf } from "../../../../test/stopping.ts";
import { CHANNEL_SECRETS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, type TestBridge } from "../../../../test/workerd.ts";
import { homeOf } from "../../api/stubs.ts";
import type { StoredOffer } from "./permission-store.ts";

const SEED = 1;
/** From the second day on most runs by a row. */
const EVENTS = 150;
const INJECTED = 60;
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/** In the future, since the platform fires alarms by the true clock. */
const START = Date.UTC(2028, 0, 3);
const BASH: ActionAdvert = {
  name: "bash",
  description: "Run a command in a shell.",
  parameters: { type: "object", properties: { script: { type: "string" } }, required: ["script"] },
  effect: "exec",
};

afterEach(async () => {
  vi.useRealTimers();
  await reset();
});

const idOf = (name: string) => name.toLowerCase().replaceAll(" ", "-");
const home = () => homeOf(env, "a");

class Gateway implements HomeToMeasure {
  readonly #bridge: TestBridge;
  /** By the person's name: the grant of their program. */
  readonly #programs: ReadonlyMap<string, string>;
  #question = "";

  private constructor(bridge: TestBridge, programs: ReadonlyMap<string, string>) {
    this.#bridge = bridge;
    this.#programs = programs;
  }

  static async make(): Promise<Gateway> {
    const role_of = Object.fromEntries(PEOPLE.map(({ role }, n) => [String(n + 1), role]));
    const chat = {
      connection: "family",
      channel: "telegram",
      home: "a",
      token: "1:test-token-of-telegram",
      base_url: "http://127.0.0.1:9",
    };
    setVariables({ CHANNELS: JSON.stringify([{ ...chat, secret: CHANNEL_SECRETS.telegram, role_of }]) });
    // Its line was seen last after all of it, so it is there on each day.
    at(START + 100 * DAY_MS);
    const devices = Object.entries(adverts as unknown as Record<string, ActionAdvert[]>).map(
      ([name, tools]) => device(idOf(name), { tools, hosted: { name } }),
    );
    const key = await SignedAgent.make("machine");
    await post("/v1/agents/machine/key", { public_key: key.publicKey, name: "Machine" });
    const features = ["tool", "cancel", "ack", "question", "gateway", "permissions"];
    const bridge = await hosting([...devices, await key.state({ tools: [BASH], features })]);
    bridge.onCall = ({ agent }) =>
      agent === "machine"
        ? undefined
        : { status: "success", confirmed: true, result: "done", tainted: false };
    at(START);
    const programs = new Map<string, string>();
    for (const { name, role } of PEOPLE) {
      const scopes = ["ask", "command", ...(role === "owner" ? ["approve"] : [])];
      const { token } = (await post("/v1/tokens", { name, role, scopes })).body as unknown as {
        token: string;
      };
      const send = (path: string, init: RequestInit = {}) => ask(path, { token: null, ...init });
      await new SignIn(send, "https://gateway").connect(token, { command: "yes" });
      const response = await ask("/v1/oauth/grants", { token });
      const { grants } = (await response.json()) as { grants: Array<{ id: string }> };
      programs.set(name, grants[0]?.id ?? "");
    }
    return new Gateway(bridge, programs);
  }

  async call(event: Event) {
    const { way, change } = event;
    at(START + event.at * MINUTE_MS);
    const id = crypto.randomUUID();
    const reply = await this.#submit(id, event);
    const [question] = await rowsOf<{ id: string }>(
      theHome(),
      `SELECT id FROM question WHERE call = '${id}'`,
    );
    this.#question = question?.id ?? "";
    if (question) return "asked";
    if (!reply.accepted) return "refused";
    const sent = await until(() => this.#bridge.calls().find((one) => one.id === id), { what: "the call" });
    // The machine asks by its own policy, where nothing in the command allows it.
    if (sent.agent === "machine") return sent.payload.includes('"permission"') ? "row" : "asked";
    const isPress = way === "press" && event.person.role === "owner";
    return change === undefined ? "read" : isPress ? "press" : "row";
  }

  async #submit(id: string, { person: { name, role }, way, change, tainted }: Event) {
    const { device: on, action, parameters } = change ?? { device: "TV", action: "read", parameters: {} };
    const agent = idOf(on);
    const caller = { principal: name, role, channel: "api" };
    if (way === "press") {
      const payload = { tool: action, parameters };
      const order = { command: "tool", payload, silenceMs: 60_000, totalMs: 60_000, idempotent: true };
      const pressed = role === "owner" && { pressed: true as const };
      return await home().calls.command({ id, agent, order, caller, ...pressed });
    }
    const common = { id, args: { agent_id: agent, action, params: parameters }, watched: false, caller };
    if (way === "program") {
      const program = this.#programs.get(name) ?? "";
      const byProgram = { conversation: null, caller: { ...caller, channel: "mcp" }, program, tainted: true };
      return await home().calls.submit({ ...common, ...byProgram });
    }
    const chat = chatOf(name);
    const inChat = {
      conversation: `a/telegram/family:${chat.split(":")[1]}`,
      caller: { principal: chat, role, channel: "telegram" },
    };
    return await home().calls.submit({
      ...common,
      conversation: `a/api/${name}`,
      tainted: tainted === true,
      ...(way === "chat" && inChat),
    });
  }

  async approve({ person: { name, role }, way }: Event, always: boolean): Promise<void> {
    if (this.#question === "") return;
    const [row] = await rowsOf<{ offers: string }>(
      theHome(),
      `SELECT offers FROM permission_offer WHERE question = '${this.#question}'`,
    );
    const offers = row ? (JSON.parse(row.offers) as StoredOffer[]) : [];
    const isOffered = offers.some((one) => one.id === "always");
    const keep = { offer: "always" as const, ...(way === "program" && { tainted: true as const }) };
    const owner = role === "owner" ? name : "ann";
    const viewer = { name: owner, role: "owner", home: "a", scopes: ["ask", "command", "approve"] };
    const answered = await home().questions.answer(
      this.#question,
      "approve",
      viewer as never,
      { by: "token" },
      always && isOffered ? keep : undefined,
    );
    expect(answered).toMatchObject({ ok: true });
  }
}

test("what the counting home asks about, the gateway asks about, and the same runs; nothing that is injected does", async () => {
  const [gateway, counting] = [await Gateway.make(), new MatchingHome()];
  const answered = [new Map<string, number>(), new Map<string, number>()] as const;
  for (const event of thirtyDays(SEED).slice(0, EVENTS)) {
    const came = await happen(gateway, event, answered[0]);
    const counted = await happen(counting, event, answered[1]);
    expect([event, came]).toEqual([event, counted]);
  }
  for (const { at: minute, person, change } of injectedCalls(SEED, INJECTED)) {
    const event: Event = { at: 1_440 * 10 + minute, person, change, way: "sentence", tainted: true };
    const came = await gateway.call(event);
    expect([event, came]).toEqual([event, counting.call(event)]);
    expect(["asked", "refused"]).toContain(came);
  }
}, 300_000);
