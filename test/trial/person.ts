/**
 * The person of the trial. They use the console (its routes, with the owner's token), `edgecall` on a laptop outside
 * the home, and a keyboard at each machine. Each of their actions is counted.
 */
import { spawn } from "node:child_process";
import { z } from "@edgecall/core/protocol/parse.ts";
import { Agent, Call, Status } from "../../cli/gateway/shapes.ts";
import { type Step as ModelStep, script } from "../scripted-model.ts";
import type { Machine, Typed } from "./machine.ts";

/** The slowest command waits for a roll-back. */
const EDGECALL_WITHIN_MS = 240_000;
const ROUTE_WITHIN_MS = 30_000;

const Code = z.looseObject({ code: z.string(), command: z.string() });
const Turn = z.looseObject({ status: z.string(), answer: z.nullable(z.string()), calls: z.array(Call) });
export type Turn = z.infer<typeof Turn>;
const Questions = z.looseObject({
  questions: z.array(z.looseObject({ id: z.string(), conversation: z.string(), text: z.string() })),
});

export class Person {
  /** The number of clicks, commands and questions so far. */
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

  /** The console's "Add a device", or "Replace" for a known one. @returns the command that it shows */
  async addDevice(what: { agent?: string; broker?: { url: string } } = {}): Promise<string> {
    this.did += 1;
    return Code.parse(await this.#route("POST", "/v1/device-codes", what)).command;
  }

  type(machine: Machine, command: string): Promise<Typed> {
    this.did += 1;
    return machine.type(command);
  }

  /** `edgecall ask` on the laptop. @returns the finished turn. @throws an error with the command's output */
  ask(conversation: string, ...steps: ModelStep[]): Promise<Turn> {
    this.did += 1;
    return this.#askSilently(conversation, steps);
  }

  /**
   * Calls an agent's action through the model, and answers with its result. Not counted, because it is a check of the
   * trial itself.
   */
  use(conversation: string, agent: string, action = "system_info"): Promise<Turn> {
    return this.#askSilently(conversation, [calls(agent, action), { text: "$results" }]);
  }

  /** Returns the open question of a conversation, or without a name of any conversation. */
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

  /** `edgecall update` of an agent or of `bridge` on the laptop. Resolves when its outcome is known. */
  update(name: string): Promise<Typed & { err: string }> {
    this.did += 1;
    return this.#edgecall("update", name);
  }

  async bridgeVersion(): Promise<string | undefined> {
    const seen = await this.#route("GET", "/v1/status").catch(() => undefined);
    return Status.safeParse(seen).data?.bridge.version ?? undefined;
  }

  /** Returns the line of a conversation that contains these words, or undefined. */
  async reads(conversation: string, words: string): Promise<string | undefined> {
    const seen = JSON.stringify(await this.#route("GET", `/v1/conversations/${conversation}`), undefined, 1);
    return seen
      .split("\n")
      .find((line) => line.includes(words))
      ?.trim();
  }

  /** Returns the agent as the console shows it; undefined: unknown, or the gateway does not answer. */
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

  /** @throws an error with the gateway's error text */
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

  /** `edgecall doctor` on the laptop. Its question to the model would have no script, so it leaves the model out. */
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
    const output = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.err += text;
    });
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) =>
        resolve({ code: code ?? -1, out: output.out.trim(), err: output.err.trim() }),
      );
    });
  }
}

/** Makes the model's call of an agent's action. */
export function calls(agent: string, action: string, params: object = {}): ModelStep {
  return { calls: [{ arguments: { agent_id: agent, action, params } }] };
}
