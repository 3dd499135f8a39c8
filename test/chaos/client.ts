/**
 * A well-behaved client. It gives each question a key. When its connection breaks, it looks up its turn or sends the
 * question again with the same key, until it has the answer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { TOKENS } from "../tokens.ts";
import { questionOf } from "./model.ts";
import type { PlannedTurn, TurnScript } from "./plan.ts";

export type SeenCall = {
  id: string;
  agent?: string;
  status: "success" | "error" | "pending";
  result?: string;
  error?: string;
  error_type?: string;
  args?: unknown;
  /** The calls that the agent's own model made. */
  calls?: SeenCall[];
};

export type SeenTurn = {
  turn: string;
  status: string;
  answer: string | null;
  calls: SeenCall[];
  error?: { code: string; message: string };
};

export type Question = {
  conversation: string;
  key: string;
  client: PlannedTurn["client"];
  script: TurnScript;
};

export type Asked = {
  /** Undefined when no answer came in time. */
  answer: SeenTurn | undefined;
  /** Milliseconds from the question to the answer. */
  ms: number;
  /** The number of times that the connection broke. */
  cutOff: number;
  /** Each turn id that the gateway gave for the key. */
  turns: string[];
  /** Faults that a client must never see: ids that do not rise, a second end, a refusal. */
  faults: string[];
};

/** A request that hangs is given up after this time; the gateway itself answers within 25 s. */
const REQUEST_MS = 30_000;
const AGAIN_MS = 50;

/** Asks, and keeps trying for `withinMs`. Never throws. */
export async function ask(url: string, question: Question, withinMs: number): Promise<Asked> {
  const asking = new Asking(url, question);
  const began = performance.now();
  let answer: SeenTurn | undefined;
  while (answer === undefined && performance.now() - began < withinMs) {
    answer = await asking.attempt().catch(() => undefined);
    if (answer === undefined) {
      asking.asked.cutOff += 1;
      await sleep(AGAIN_MS);
    }
  }
  return { ...asking.asked, answer, ms: performance.now() - began };
}

/** Reads a turn. @returns undefined when the turn does not exist or the gateway does not answer */
export async function look(url: string, conversation: string, turn: string): Promise<SeenTurn | undefined> {
  const response = await request(url, `/v1/conversations/${conversation}/turns/${turn}`);
  return response.ok ? ((await response.json()) as SeenTurn) : undefined;
}

/** Returns every turn of a conversation with its question. @throws when the gateway does not answer */
export async function conversationOf(
  url: string,
  conversation: string,
): Promise<Array<SeenTurn & { text: string }>> {
  const response = await request(url, `/v1/conversations/${conversation}`);
  if (response.status === 404) return [];
  if (!response.ok) throw new Error(`conversation ${conversation}: ${response.status}`);
  return ((await response.json()) as { turns: Array<SeenTurn & { text: string }> }).turns;
}

export function request(url: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKENS.owner}`, "content-type": "application/json" };
  return fetch(`${url}${path}`, {
    ...init,
    headers: { ...headers, ...init.headers },
    signal: AbortSignal.timeout(REQUEST_MS),
  });
}

class Asking {
  readonly asked = { cutOff: 0, turns: [] as string[], faults: [] as string[] };
  readonly #url: string;
  readonly #question: Question;
  #turn: string | undefined;
  #lastEvent = 0;
  #tries = 0;

  constructor(url: string, question: Question) {
    this.#url = url;
    this.#question = question;
  }

  /** @returns the answer; undefined = not answered yet. @throws when the connection breaks */
  async attempt(): Promise<SeenTurn | undefined> {
    const { client } = this.#question;
    this.#tries += 1;
    const known = this.#turn;
    // Every second attempt sends only the key, like a client that forgot its turn's id.
    const response =
      known === undefined || this.#tries % 2 === 1 ? await this.#post() : await this.#lookUp(known);
    if (response.status >= 500) throw new Error(`${response.status}`);
    if (!response.ok) {
      this.asked.faults.push(`refused: ${response.status} ${(await response.text()).slice(0, 200)}`);
      return undefined;
    }
    const isEvents = response.headers.get("content-type")?.includes("text/event-stream") === true;
    if (client === "events" && isEvents) return await this.#events(response);
    const turn = (await response.json()) as SeenTurn;
    this.#noteTurn(turn.turn);
    return turn.status === "running" ? undefined : turn;
  }

  async #post(): Promise<Response> {
    const { conversation, key, client, script } = this.#question;
    this.#lastEvent = 0;
    const response = await request(this.#url, `/v1/conversations/${conversation}/messages`, {
      method: "POST",
      body: JSON.stringify({ text: questionOf(script) }),
      headers: { "idempotency-key": key, ...(client === "events" && { accept: "text/event-stream" }) },
    });
    const turn = response.headers.get("edgecall-turn");
    if (turn !== null) this.#noteTurn(turn);
    return response;
  }

  #lookUp(turn: string): Promise<Response> {
    const { conversation, client } = this.#question;
    const path = `/v1/conversations/${conversation}/turns/${turn}`;
    if (client === "json") return request(this.#url, path);
    const headers: Record<string, string> =
      this.#lastEvent > 0 ? { "last-event-id": String(this.#lastEvent) } : {};
    return request(this.#url, `${path}/events`, { headers });
  }

  /** Reads server-sent events until the turn ends. A stream that ends earlier counts as broken. */
  async #events(response: Response): Promise<SeenTurn | undefined> {
    let done: SeenTurn | undefined;
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) done = this.#event(block, done);
    }
    if (!done) throw new Error("the stream ended before the turn");
    return done;
  }

  #event(block: string, done: SeenTurn | undefined): SeenTurn | undefined {
    const field = (name: string) =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const id = field("id");
    if (id !== undefined) {
      if (Number(id) <= this.#lastEvent)
        this.asked.faults.push(`event ${id} came again after ${this.#lastEvent}`);
      this.#lastEvent = Math.max(this.#lastEvent, Number(id));
    }
    if (field("event") !== "done") return done;
    if (done) this.asked.faults.push("the turn ended twice in one stream");
    return JSON.parse(field("data") ?? "null") as SeenTurn;
  }

  #noteTurn(turn: string): void {
    this.#turn = turn;
    if (!this.asked.turns.includes(turn)) this.asked.turns.push(turn);
  }
}
