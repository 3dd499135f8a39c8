/**
 * Who tries all of it: a person with the console (its routes, with the owner's token), `edgecall` on a laptop outside
 * the home, and a keyboard at each machine. Whatever they do is counted.
 */
import { spawn } from "node:child_process";
import { z } from "@edgecall/core/protocol/parse.ts";
import { Agent, Call, Status } from "../../cli/gateway/shapes.ts";
import { type Step as ModelStep, script } from "../scripted-model.ts";
import type { Machine, Typed } from "./machine.ts";

/** The longest waits for a roll-back. */
const EDGECALL_WITHIN_MS = 240_000;
const ROUTE_WITHIN_MS = 30_000;

const Code = z.looseObject({ code: z.string(), command: z.string() });
const Turn = z.looseObject({ status: z.string(), answer: z.nullable(z.string()), calls: z.array(Call) });
export type Turn = z.infer<typeof Turn>;
const Questions = z.looseObject({
  questions: z.array(z.looseObject({ id: z.string(), conversation: z.string(), text: z.string() })),
});

export class Person {
  /** Clicks, commands and questions so far. */
  did = 0;
  readonly #gateway: string;
  readonly #token: string;
  readonly #cli: string;

  /** @param cli the file `edgecall.cjs` */
  constructor({ gateway, token, cli }: { gateway: string; token: string; cli: string }) {
    this.#gateway = gateway;
    this.#token = token;
    this.#cli = cli;
  }

  /** The console's "Add a device", or "Replace" beside one. @returns the command that it shows */
  async addDevice(what: { agent?: string; broker?: { url: string } } = {}): Promise<string> {
    this.did += 1;
    return Code.parse(await this.#route("POST", "/v1/device-codes", what)).command;
  }

  type(machine: Machine, command: string): Promise<Typed> {
    this.did += 1;
    return machine.type(command);
  }

  /** `edgecall ask` on the laptop. @returns the turn at its end; rejects with what the command said */
  ask(conversation: string, ...steps: ModelStep[]): Promise<Turn> {
    this.did += 1;
    return this.#askSilently(conversation, steps);
  }

  /** An agent's action by way of the model: who answers, and with what. Not counted: the trial itself looks. */
  use(conversation: string, agent: string, action = "system_info"): Promise<Turn> {
    return this.#askSilently(conversation, [calls(agent, action), { text: "$results" }]);
  }

  /** The question that is open in a conversation; without one, any. */
  async openQuestion(conversation?: string): Promise<{ id: string; text: string } | undefined> {
    const { questions } = Questions.parse(await this.#route("GET", "/v1/questions"));
    return questions.find((one) => conversation === undefined || one.conversation === conversation);
  }

  async approve(question: string): Promise<void> {
    this.did += 1;
    await this.#route("POST", `/v1/questions/${question}`, { answer: "approve" });
  }

  async revoke(agent: string): Promise<void> {
    this.did += 1;
    await this.#route("DELETE", `/v1/agents/${agent}/key`);
  }

  /** `edgecall update` of an agent, or of `bridge`, on the laptop: until it is known what came of it. */
  update(name: string): Promise<Typed & { err: string }> {
    this.did += 1;
    return this.#edgecall("update", name);
  }

  async bridgeVersion(): Promise<string | undefined> {
    const seen = await this.#route("GET", "/v1/status").catch(() => undefined);
    return Status.safeParse(seen).data?.bridge.version ?? undefined;
  }

  /** The line of a conversation that has these words, once there is one. */
  async reads(conversation: string, words: string): Promise<string | undefined> {
    const seen = JSON.stringify(await this.#route("GET", `/v1/conversations/${conversation}`), undefined, 1);
    return seen
      .split("\n")
      .find((line) => line.includes(words))
      ?.trim();
  }

  /** As the console shows it; undefined: unknown, or the gateway is away. */
  async agent(id: string): Promise<Agent | undefined> {
    const seen = await this.#route("GET", `/v1/agents/${id}`).catch(() => undefined);
    return Agent.safeParse(seen).data;
  }

  async sees(...agents: string[]): Promise<boolean> {
    const seen = await Promise.all(agents.map((id) => this.agent(id)));
    return seen.every((agent) => agent?.online && agent.actions.length > 0);
  }

  async healthy(): Promise<boolean> {
    return (await fetch(`${this.#gateway}/healthz`).catch(() => undefined))?.ok ?? false;
  }

  /** @throws with the gateway's words */
  async #route(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.#gateway}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ROUTE_WITHIN_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** `edgecall doctor` on the laptop; its question to the model has no script, so the model is left out. */
  doctor(): Promise<Typed> {
    this.did += 1;
    return this.#edgecall("doctor", "--no-model");
  }

  async #askSilently(conversation: string, steps: readonly ModelStep[]): Promise<Turn> {
    const { code, out, err } = await this.#edgecall(
      "ask",
      ...["--json", "--conversation", conversation, script(...steps)],
    );
    const turn = out === "" ? undefined : Turn.safeParse(JSON.parse(out)).data;
    if (!turn) throw new Error(`edgecall ask ended with ${code}: ${err} ${out}`);
    return turn;
  }

  #edgecall(...words: readonly string[]): Promise<Typed & { err: string }> {
    const child = spawn(process.execPath, [this.#cli, ...words], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { EDGECALL_URL: this.#gateway, EDGECALL_TOKEN: this.#token, HOME: "/nonexistent" },
      timeout: EDGECALL_WITHIN_MS,
    });
    const said = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said.err += text;
    });
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code: code ?? -1, out: said.out.trim(), err: said.err.trim() }));
    });
  }
}

/** The model's call of an agent's action. */
export function calls(agent: string, action: string, params: object = {}): ModelStep {
  return { calls: [{ arguments: { agent_id: agent, action, params } }] };
}
