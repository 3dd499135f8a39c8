/** A broker, a caller, and agents named `eye` that a test makes when it needs them. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { until } from "../../test/wait.ts";
import type { Agent } from "../agent.ts";
import type { Rule } from "../config/policy-rules.ts";
import type { Settings } from "../config/settings.ts";
import type { openToolbox } from "../toolbox/toolbox.ts";
import { type LogLine, memoryLog, Peer, readyAgent, startBroker, testSettings } from "./home.ts";
import { type ModelAnswer, type ModelRequest, startModel } from "./model.ts";
import { testing } from "./test-tools.ts";

type Fields = Record<string, unknown>;
type Script = (request: ModelRequest, count: number) => ModelAnswer | Promise<ModelAnswer>;

export type House = {
  peer: Peer;
  port: number;
  lines: LogLine[];
  /** The file in which `append` leaves its marks. */
  marks: string;
  baseUrl: string;
  /** The requests to its model. */
  requests: ModelRequest[];
  start(
    more?: Omit<Partial<Settings>, "tools"> & {
      folder?: string;
      tools?: Tool[];
      toolbox?: typeof openToolbox;
    },
  ): Promise<Agent>;
  /** Sends `eye` a command without waiting. @returns its request id */
  send(command: string, payload?: Fields, more?: Fields): Promise<string>;
  tool(name: string, parameters?: Fields, more?: Fields): Promise<string>;
  prompt(text: string, more?: Fields): Promise<string>;
  /** Waits for the payload of a report. */
  result(requestId: string): Promise<Fields>;
  /** Waits for the n-th question of a command, from 0. */
  question(requestId: string, nth?: number): Promise<Fields & { question_id: string; approval?: Fields }>;
  /** Answers a question; waits for the payload of the reply. */
  answer(questionId: string, answer: string, more?: Fields): Promise<Fields>;
  stop(): Promise<void>;
};

export function rules(table: Record<string, Rule>): Map<string, Rule> {
  return new Map(Object.entries(table));
}

export async function house(script?: Script): Promise<House> {
  const broker = await startBroker();
  const peer = await Peer.connect(broker.port);
  const model = await startModel(script ?? (() => ({ text: "no script" })));
  const { log, lines } = memoryLog();
  const marks = join(mkdtempSync(join(tmpdir(), "edgecall-agent-")), "marks");
  const agents: Agent[] = [];
  const send: House["send"] = async (command, payload = {}, more = {}) => {
    const requestId = crypto.randomUUID();
    await peer.command("eye", { command, payload, request_id: requestId, n: 1, ...more });
    return requestId;
  };
  const result: House["result"] = async (id) =>
    (await until(() => peer.reports(id)[0], { what: `report of ${id}`, within: 10_000 })).payload;
  return {
    peer,
    port: broker.port,
    lines,
    marks,
    baseUrl: model.baseUrl,
    requests: model.requests,
    async start({ tools = [], toolbox, ...more } = {}) {
      const llm = { baseUrl: model.baseUrl, model: "scripted", maxTokens: 500, temperature: 0 };
      const settings = testSettings(broker.port, { ...(script && { llm }), ...more });
      const all = [...testing({ file: marks }), ...tools];
      const agent = await readyAgent(settings, { log, tools: all, ...(toolbox && { toolbox }) });
      agents.push(agent);
      return agent;
    },
    send,
    tool: (name, parameters = {}, more = {}) => send("tool", { tool: name, parameters }, more),
    prompt: (text, more = {}) => send("prompt", { prompt: text }, more),
    result,
    async question(id, nth = 0) {
      const event = await until(() => peer.events(id, "question")[nth], { what: `question of ${id}` });
      return event.payload as Fields & { question_id: string };
    },
    async answer(questionId, answer, more = {}) {
      return await result(await send("answer", { question_id: questionId, answer, ...more }));
    },
    async stop() {
      for (const agent of agents) await agent.stop();
      await model.stop();
      await peer.stop();
      await broker.stop();
    },
  };
}
