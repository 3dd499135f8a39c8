/** `edgecall update` makes an agent or the bridge update itself from the gateway, and waits for the result. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "@edgecall/core/protocol/parse.ts";
import { UPDATE_ACTION } from "@edgecall/core/protocol/versions.ts";
import { UPDATE_WITHIN_MS } from "@edgecall/node/systemd/update.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { readAgents } from "./agent-pages.ts";
import { agentNamed } from "./agents.ts";
import { askPerson } from "./ask-person.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { paintFor } from "./paint.ts";
import { printableLine } from "./printable.ts";
import { Question, Status } from "./shapes.ts";
import { table } from "./table.ts";

const BRIDGE = "bridge";
/** Each request wakes the home, so there are few. */
const LOOK_EVERY_MS = 2_000;
/** By default a device waits ten minutes for an approval. */
const WITHIN_MS = UPDATE_WITHIN_MS + 15 * 60_000;

const Payload = z.looseObject({
  status: z.optional(z.string()),
  job: z.optional(z.string()),
  result: z.optional(z.string()),
  error: z.optional(z.string()),
});
type Payload = z.infer<typeof Payload>;
/** Without a payload the command is still running. */
const Answer = z.looseObject({ request_id: z.string(), payload: z.optional(Payload) });
const Questions = z.looseObject({ questions: z.array(Question) });
const Ordered = z.looseObject({ id: z.string() });

const WHERE_IT_RUNS = "where it runs: it is no service, or older than updates on command";

type Outcome = { ok: boolean; text: string };

/** Exit code 0: done, or nothing to do. Without a name it lists all versions. */
export async function update(call: CommandCall): Promise<number> {
  const { positionals, flag, env, io } = call;
  const gateway = new Gateway(readConnection(env));
  const [name, ...more] = positionals;
  if (more.length > 0) throw new UsageError("takes one agent's name, or bridge");
  if (name === undefined) return await overview(call, gateway);
  const { ok, text } =
    name === BRIDGE ? await ofBridge(gateway) : await new AgentUpdate(gateway, name, call).run();
  if (flag("json")) io.out(`${JSON.stringify({ name, ok, text })}\n`);
  else if (ok) io.out(`${printableLine(text, 500)}\n`);
  // An agent's own text begins with a part for its model.
  else io.err(`not updated: ${printableLine(text.replace(/^Error: (The update failed: )?/, ""), 500)}\n`);
  return ok ? EXIT.ok : EXIT.failed;
}

async function overview({ flag, io }: CommandCall, gateway: Gateway): Promise<number> {
  const [{ version, bridge }, { agents }] = await Promise.all([
    gateway.json(Status, "GET /v1/status"),
    readAgents(gateway),
  ]);
  const own = agents.filter(({ foreign }) => !foreign);
  const all = [
    { name: BRIDGE, version: bridge.version, online: bridge.online, can: bridge.updates !== false },
    ...own.map(({ id, version: its, online, actions }) => ({
      ...{ name: id, version: its, online, can: actions.includes(UPDATE_ACTION) },
    })),
  ];
  if (flag("json")) io.out(`${JSON.stringify({ gateway: version, programs: all })}\n`);
  else {
    const columns = [
      { title: "PROGRAM", gives: true },
      { title: "VERSION" },
      { title: "UPDATE", gives: true },
    ];
    const rows = all.map(({ name, version: its, online, can }) => [
      name,
      its ?? "?",
      advice({ online, can }),
    ]);
    io.out(`the gateway has ${version}\n\n${table(columns, rows, io.width)}`);
  }
  return EXIT.ok;
}

function advice({ online, can }: { online: boolean; can: boolean }): string {
  if (!online) return "offline";
  return can ? "on command" : WHERE_IT_RUNS;
}

async function ofBridge(gateway: Gateway): Promise<Outcome> {
  const { id } = await gateway.json(Ordered, "POST /v1/bridge/update").catch((error: unknown) => {
    if (error instanceof GatewayError && ["not_found", "foreign"].includes(error.kind))
      throw new Error("this gateway cannot tell its bridge to update itself yet: update the gateway first");
    throw error;
  });
  return await until(async () => {
    const { update: of } = (await gateway.json(Status, "GET /v1/status")).bridge;
    return of?.id === id && of.ok !== null ? { ok: of.ok, text: of.text } : undefined;
  });
}

/** An update of an agent: a person approves it, it becomes a job, and the next program reports the result. */
class AgentUpdate {
  readonly #gateway: Gateway;
  readonly #agent: string;
  readonly #call: CommandCall;
  /** The questions that were asked or shown. */
  readonly #put = new Set<string>();

  constructor(gateway: Gateway, agent: string, call: CommandCall) {
    this.#gateway = gateway;
    this.#agent = agent;
    this.#call = call;
  }

  async run(): Promise<Outcome> {
    await this.#checkAction();
    const ended = new AbortController();
    const asking = this.#putQuestions(ended.signal);
    try {
      const payload = { tool: UPDATE_ACTION, parameters: {} };
      const first = await this.#gateway.json(Answer, "POST /v1/agents/{agent}/commands", {
        path: { agent: this.#agent },
        body: { command: "tool", payload },
      });
      const result = first.payload ?? (await this.#reportOf(first.request_id));
      if (result.status !== "accepted" || result.job === undefined) return outcomeOf(result);
      this.#call.io.err(`${printableLine(this.#agent, 64)} has begun\n`);
      return outcomeOf(await this.#reportOf(result.job));
    } finally {
      ended.abort();
      await asking;
    }
  }

  /** Checked before the call, since the text of a refused call is for a model. */
  async #checkAction(): Promise<void> {
    const { online, actions } = await agentNamed(this.#gateway, this.#agent);
    // Before the agent's advert its actions are unknown. The gateway's answer covers that case, and an offline agent.
    if (!online || actions.length === 0 || actions.includes(UPDATE_ACTION)) return;
    throw new Error(`${this.#agent} cannot be updated from here. Update it ${WHERE_IT_RUNS}`);
  }

  async #reportOf(id: string): Promise<Payload> {
    const path = { agent: this.#agent, request: id };
    return await until(
      async () =>
        (await this.#gateway.json(Answer, "GET /v1/agents/{agent}/commands/{request}", { path })).payload,
    );
  }

  /** The device asks for an approval, which the person can give here. */
  async #putQuestions(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const open = await this.#gateway.json(Questions, "GET /v1/questions").catch(() => ({ questions: [] }));
      const ours = open.questions.find(
        ({ id, agent, approval, answer }) =>
          agent === this.#agent &&
          approval?.tool === UPDATE_ACTION &&
          answer === undefined &&
          !this.#put.has(id),
      );
      if (ours && !ended.aborted) await this.#ask(ours, ended);
      await sleep(LOOK_EVERY_MS, undefined, { signal: ended }).catch(() => {});
    }
  }

  async #ask(question: Question, ended: AbortSignal): Promise<void> {
    const { io, env } = this.#call;
    this.#put.add(question.id);
    if (!io.person) {
      io.err(`${printableLine(this.#agent, 64)} asks whether it may: answer it in the console or a chat\n`);
      return;
    }
    const terminal = {
      input: process.stdin,
      output: process.stderr,
      paint: paintFor(io.watched, env),
      onInterrupt: () => process.exit(EXIT.cancelled),
    };
    const answer = await askPerson(question, terminal, ended);
    if (answer === undefined) return;
    await this.#gateway
      .text("POST /v1/questions/{id}", { path: { id: question.id }, body: { answer } })
      .catch((error: unknown) => io.err(`not answered: ${error instanceof Error ? error.message : error}\n`));
  }
}

function outcomeOf({ status, result, error }: Payload): Outcome {
  return status === "success" ? { ok: true, text: result ?? "" } : { ok: false, text: error ?? "it failed" };
}

/** Repeats a request until there is a result. A gateway that is away for a moment is asked again. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + WITHIN_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
    const found = await look().catch((error: unknown) => {
      if (error instanceof GatewayError && isPassing(error)) return undefined;
      throw error;
    });
    if (found !== undefined) return found;
  }
  throw new Error("there was no result in time; `edgecall status` shows how it goes on");
}

/** True for a passing fault of the gateway. An answer about the command itself is none, so repeating would not help. */
function isPassing({ kind, code }: GatewayError): boolean {
  return kind === "unreachable" || (kind === "failed" && code !== "timeout" && code !== "outcome_unknown");
}
