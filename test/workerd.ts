/** For tests inside workerd: the Worker's own fetch, and a bridge that speaks the frames over a real socket. */
import { exports } from "cloudflare:workers";
import type { AssistantAnswer } from "@edgecall/core/protocol/assistant.ts";
import type {
  AutomationDraft,
  AutomationDrafted,
  AutomationOrder,
  AutomationOrdered,
} from "@edgecall/core/protocol/automation.ts";
import type { DeviceReadings } from "@edgecall/core/protocol/devices.ts";
import type { AgentState, BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { BRIDGE_PROTOCOL, VERSION } from "@edgecall/core/protocol/names.ts";
import type { PastReply } from "@edgecall/core/protocol/past.ts";
import type { HomeStatus } from "../worker/kernel/api/answers.ts";
import { TOKENS } from "./tokens.ts";
import { until } from "./wait.ts";

const worker = (exports as unknown as { default: Fetcher }).default;

export function ask(path: string, init: RequestInit & { token?: string | null } = {}): Promise<Response> {
  const { token = TOKENS.owner, ...rest } = init;
  const headers = new Headers(rest.headers);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  return worker.fetch(`https://gateway${path}`, { ...rest, headers });
}

export async function say(conversation: string, text: string, init: Parameters<typeof ask>[1] = {}) {
  const response = await ask(`/v1/conversations/${conversation}/messages`, {
    method: "POST",
    body: JSON.stringify({ text }),
    ...init,
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

export type Answer = {
  turn: string;
  status: string;
  answer: string;
  calls: Array<{
    id: string;
    status: string;
    agent?: string;
    error_type?: string;
    error?: string;
    result?: string;
    calls?: unknown[];
  }>;
  usage: { input_tokens: number; output_tokens: number };
  error?: { code: string; message: string };
};

export type CallFrame = HomeFrame & { t: "call" };

export class TestBridge {
  readonly #socket: WebSocket;
  readonly received: HomeFrame[] = [];
  /** The agents return them, behind whichever bridge. */
  static readonly #routes = new Map<string, string>();
  closed: { code: number; reason: string } | undefined;
  /** Answers to its `ping`s. */
  pongs = 0;
  /** Makes the report of a call; undefined = no report. */
  onCall: (call: CallFrame) => Record<string, unknown> | undefined = () => undefined;
  /** Whether it sends `taken` for a call. */
  takes = true;
  /** The answer to Home's question for readings; undefined = none. */
  onStates: (frame: HomeFrame & { t: "states" }) => DeviceReadings[] | undefined = () => undefined;
  /** The answer to a question about the past; undefined = none. */
  onPast: (frame: HomeFrame & { t: "past" }) => PastReply | undefined = () => undefined;
  /** The rule that an input would be; undefined = no answer. */
  onDraft: (draft: AutomationDraft) => AutomationDrafted | undefined = () => undefined;
  /** The answer to an order about rules that act; undefined = none. */
  onOrder: (order: AutomationOrder) => AutomationOrdered | undefined = () => undefined;
  /** Its answer about Home Assistant; undefined = none. */
  onAssistant: (frame: HomeFrame & { t: "assistant" }) => AssistantAnswer | undefined = () => undefined;
  /** True if this agent answers a ping. */
  isThere: (agent: string) => boolean = () => true;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#receive(String(data)));
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
    });
    socket.accept();
  }

  static async dial(token = TOKENS.bridge): Promise<TestBridge> {
    const response = await ask("/bridge", { token, headers: { upgrade: "websocket" } });
    if (!response.webSocket) throw new Error(`no socket: ${response.status} ${await response.text()}`);
    return new TestBridge(response.webSocket);
  }

  /** Connects, sends its agents, and has an administrator accept their descriptions. */
  static async connect(agents: AgentState[], token = TOKENS.bridge): Promise<TestBridge> {
    const bridge = await TestBridge.connectUnread(agents, token);
    const owner = ownerOf(token);
    for (const { id, new_text } of await roster(token))
      if (new_text) await ask(`/v1/agents/${id}/accept-text`, { method: "POST", token: owner });
    return bridge;
  }

  /** The same without the accepted descriptions. */
  static async connectUnread(agents: AgentState[], token = TOKENS.bridge): Promise<TestBridge> {
    const bridge = await TestBridge.dial(token);
    await bridge.hello();
    await bridge.snapshot(agents, token);
    return bridge;
  }

  /** @param rules the hash of the rules that it has @param automations the same of those that act */
  async hello(features?: string[], rules?: string, automations?: string): Promise<void> {
    const hello = {
      protocol: BRIDGE_PROTOCOL,
      bridge: "test",
      version: VERSION,
      ...(features && { features }),
      ...(rules !== undefined && { rules }),
      ...(automations !== undefined && { automations }),
    };
    this.send({ t: "hello", ...hello });
    await until(() => this.received.some((frame) => frame.t === "welcome"), { what: "welcome" });
  }

  async snapshot(agents: AgentState[], token = TOKENS.bridge): Promise<void> {
    this.send({ t: "snapshot", agents, last: true });
    await this.snapshotStored(token);
  }

  /** Home has stored the whole snapshot: from now on its agents count as this bridge said. */
  async snapshotStored(token = TOKENS.bridge): Promise<void> {
    const isStored = async () => {
      const response = await ask("/v1/status", { token: ownerOf(token) });
      return ((await response.json()) as HomeStatus).bridge.online;
    };
    await until(isStored, { what: "the snapshot is stored" });
  }

  send(frame: BridgeFrame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  raw(text: string | ArrayBuffer): void {
    this.#socket.send(text);
  }

  close(): void {
    this.#socket.close(1001, "bye");
  }

  calls(): CallFrame[] {
    return this.received.filter((frame) => frame.t === "call");
  }

  acks(): string[] {
    return this.received.flatMap((frame) => (frame.t === "ack" ? [frame.id] : []));
  }

  report(id: string, agent: string, payload: Record<string, unknown>, report_type = "result"): void {
    const route = TestBridge.#routes.get(String(payload.job_of ?? id));
    const report = {
      agent_id: agent,
      agent_type: "monitor",
      report_type,
      payload: { ...payload, request_id: id },
      timestamp: 1,
      ...(route !== undefined && { route }),
    };
    this.send({ t: "report", id, agent, payload: JSON.stringify(report) });
  }

  #answerPing({ agent, payload }: HomeFrame & { t: "publish" }): void {
    const { command, request_id } = JSON.parse(payload) as { command: string; request_id: string };
    if (command === "ping" && this.isThere(agent)) this.report(request_id, agent, { pong: true });
  }

  #receive(data: string): void {
    if (data === "pong") {
      this.pongs += 1;
      return;
    }
    const frame = JSON.parse(data) as HomeFrame;
    this.received.push(frame);
    if (frame.t === "publish") this.#answerPing(frame);
    const answer = frame.t === "assistant" ? this.onAssistant(frame) : undefined;
    if (frame.t === "assistant" && answer) this.send({ t: "assistant", id: frame.id, answer });
    const devices = frame.t === "states" ? this.onStates(frame) : undefined;
    if (frame.t === "states" && devices) this.send({ t: "states", id: frame.id, devices, last: true });
    const reply = frame.t === "past" ? this.onPast(frame) : undefined;
    if (frame.t === "past" && reply) this.send({ t: "past", id: frame.id, reply });
    const drafted = frame.t === "draft" ? this.onDraft(frame.draft) : undefined;
    if (frame.t === "draft" && drafted) this.send({ t: "drafted", id: frame.draft.id, drafted });
    const ordered = frame.t === "order" ? this.onOrder(frame.order) : undefined;
    if (frame.t === "order" && ordered) this.send({ t: "ordered", id: frame.id, ordered });
    if (frame.t !== "call") return;
    const { route } = JSON.parse(frame.payload) as { route?: string };
    if (route !== undefined) TestBridge.#routes.set(frame.id, route);
    if (this.takes) this.send({ t: "taken", id: frame.id });
    const payload = this.onCall(frame);
    if (payload) this.report(frame.id, frame.agent, payload);
  }
}

async function roster(token: string): Promise<Array<{ id: string; new_text?: unknown }>> {
  const response = await ask("/v1/agents", { token: ownerOf(token) });
  return ((await response.json()) as { agents: Array<{ id: string; new_text?: unknown }> }).agents;
}

function ownerOf(bridge: string): string {
  return bridge === TOKENS.otherBridge ? TOKENS.otherHome : TOKENS.owner;
}

/** One of our agents as a bridge reports it. */
export function agent(
  id: string,
  more: Partial<Omit<AgentState, "tools">> & {
    line?: string;
    version?: string;
    features?: string[];
    tools?: unknown[];
  } = {},
): AgentState {
  const {
    line = `${id} edge agent`,
    version = VERSION,
    features = ["tool", "prompt", "cancel", "ack", "question", "route"],
    tools = [CPU],
    ...rest
  } = more;
  return {
    id,
    online: true,
    last_seen: Date.now(),
    foreign: false,
    capabilities: JSON.stringify({
      agent_id: id,
      capabilities: line,
      agent_type: "monitor",
      version,
      features,
    }),
    tools: JSON.stringify({ hash: "h", tools }),
    ...rest,
  };
}

export const CPU = {
  name: "cpu",
  description: "CPU load",
  parameters: { type: "object", properties: {} },
  timeout_ms: 10_000,
  effect: "read",
  idempotent: true,
};

export const SIREN = {
  ...CPU,
  name: "siren",
  description: "Sounds the siren",
  effect: "device",
  idempotent: false,
};
