/** A client of the gateway's HTTP routes for tests. */
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";

export type CallRecord = {
  id: string;
  name: string;
  agent?: string;
  action?: string;
  query?: string;
  status: "success" | "error" | "pending";
  result?: string;
  error?: string;
  error_type?: string;
  elapsed_ms?: number;
  waited_ms?: number;
  for_user?: string;
  calls?: CallRecord[];
};

export type Turn = {
  turn: string;
  status: "running" | "done" | "failed" | "cancelled";
  answer: string | null;
  model: string | null;
  calls: CallRecord[];
  error?: { code: string; message: string };
};

export type Agent = {
  id: string;
  online: boolean;
  reason?: string;
  foreign: boolean;
  capabilities: string;
  new_text?: { line?: string; was?: string; by_use?: true };
  actions: string[];
  features: string[];
  counts: { calls: number; success: number; error: number; open: number };
};

export type Reply = {
  status: number;
  body: {
    request_id?: string;
    report_type?: string;
    payload?: Record<string, unknown>;
    error?: { code: string; message: string };
  };
};

/** The tools that an agent offers, and the missing ones with the reasons. */
export type ToolsList = {
  /** `own`: only the agent's own model has it. */
  tools: Array<{ name: string; description: string; own?: true; evoclaw?: Record<string, unknown> }>;
  unavailable: Array<{ name: string; why: string }>;
};

export type Question = {
  id: string;
  agent: string;
  conversation: string;
  text: string;
  options: string[];
  approval?: { tool: string; parameters: Record<string, unknown>; reason: string } | null;
};

/** No turn of a test should take longer. */
const ANSWER_WITHIN_MS = 50_000;
/** A bridge whose gateway was away dials again after 30 s at most; what it knows is then told within moments. */
const ONLINE_WITHIN_MS = 45_000;

export class GatewayClient {
  readonly url: string;
  readonly #token: string;

  constructor(url: string, token: string = TOKENS.owner) {
    this.url = url;
    this.#token = token;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#token}`, "content-type": "application/json" };
    return fetch(`${this.url}${path}`, { ...init, headers: { ...headers, ...init.headers } });
  }

  /** Asks, and waits for the end of the turn. */
  async ask(text: string, conversation: string = crypto.randomUUID()): Promise<Turn> {
    const response = await this.fetch(`/v1/conversations/${conversation}/messages`, {
      method: "POST",
      body: JSON.stringify({ text }),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const turn = (await response.json()) as Turn;
    return turn.status === "running" ? await this.settled(conversation, turn.turn) : turn;
  }

  /** Asks, and closes the connection at once. @returns the turn's id */
  async begin(text: string, conversation: string): Promise<string> {
    const response = await this.fetch(`/v1/conversations/${conversation}/messages`, {
      method: "POST",
      body: JSON.stringify({ text }),
      headers: { accept: "text/event-stream" },
    });
    await response.body?.cancel();
    const turn = response.headers.get("edgecall-turn");
    if (!turn) throw new Error(`no turn was begun: ${response.status}`);
    return turn;
  }

  /** Reads a turn until it has ended, also while the gateway is away. */
  settled(conversation: string, turn: string, within = ANSWER_WITHIN_MS): Promise<Turn> {
    const look = async (): Promise<Turn | undefined> => {
      const response = await this.fetch(`/v1/conversations/${conversation}/turns/${turn}`);
      const seen = (await response.json()) as Turn;
      return response.ok && seen.status !== "running" ? seen : undefined;
    };
    const what = `the end of turn ${turn}`;
    return until(() => look().catch(() => undefined), { within, every: 50, what });
  }

  async turns(conversation: string): Promise<Array<Turn & { text: string }>> {
    const response = await this.fetch(`/v1/conversations/${conversation}`);
    return ((await response.json()) as { turns: Array<Turn & { text: string }> }).turns;
  }

  async agents(): Promise<Agent[]> {
    const response = await this.fetch("/v1/agents");
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return ((await response.json()) as { agents: Agent[] }).agents;
  }

  /** Returns the agent as the gateway knows it now; undefined also while the gateway is away. */
  async agent(id: string): Promise<Agent | undefined> {
    const agents = await this.agents().catch(() => []);
    return agents.find((agent) => agent.id === id);
  }

  /** Returns the agents without a key, with and without access. */
  async unsigned(): Promise<Array<{ agent: string; served: boolean }>> {
    const response = await this.fetch("/v1/keys");
    return ((await response.json()) as { unsigned: Array<{ agent: string; served: boolean }> }).unsigned;
  }

  online(id: string, within = ONLINE_WITHIN_MS): Promise<Agent> {
    const look = async () => {
      const agent = await this.agent(id);
      return agent?.online ? agent : undefined;
    };
    return until(look, { within, every: 25, what: `${id} is online` });
  }

  offline(id: string, within = 10_000): Promise<Agent> {
    const look = async () => {
      const agent = await this.agent(id);
      return agent?.online === false ? agent : undefined;
    };
    return until(look, { within, every: 25, what: `${id} is offline` });
  }

  /** Sends one command to one agent. @returns its report */
  async command(agent: string, command: string, payload: Record<string, unknown> = {}): Promise<Reply> {
    const response = await this.fetch(`/v1/agents/${agent}/commands`, {
      method: "POST",
      body: JSON.stringify({ command, payload }),
    });
    return { status: response.status, body: (await response.json()) as Reply["body"] };
  }

  async toolsOf(agent: string): Promise<ToolsList> {
    const { body } = await this.command(agent, "tools_list");
    // SAFETY: the agent's own form; a test that lacks a part of it fails.
    return body.payload as ToolsList;
  }

  /** Waits until this conversation has a question to the person. */
  question(conversation: string, within = 15_000): Promise<Question> {
    const look = async () => {
      const { questions } = (await (await this.fetch("/v1/questions")).json()) as { questions: Question[] };
      return questions.find((one) => one.conversation === conversation);
    };
    return until(look, { within, every: 25, what: `a question in ${conversation}` });
  }

  async answer(question: string, answer: string): Promise<number> {
    const body = JSON.stringify({ answer });
    return (await this.fetch(`/v1/questions/${question}`, { method: "POST", body })).status;
  }
}
