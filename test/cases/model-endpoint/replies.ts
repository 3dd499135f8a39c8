/** What a scripted endpoint is asked, what it replies, and what has to come out. With helpers to write replies as endpoints stream them. */

/** A request, as far as a case looks into it. */
export type Body = {
  messages: Message[];
  tools?: Array<{ function: { name: string; parameters: Record<string, unknown> } }>;
  [parameter: string]: unknown;
};
export type Message = {
  role: string;
  content?: unknown;
  tool_calls?: Array<Record<string, unknown> & { id: string }>;
  tool_call_id?: string;
  [member: string]: unknown;
};

export type Asked = {
  /** Requests of this question before this one. */
  at: number;
  body: Body;
  isDevice: boolean;
  agent: string;
  /** In each call's argument, so that what was run is counted by case. */
  tag: string;
};

export type Reply = {
  status?: number;
  headers?: Record<string, string>;
  body: string | Uint8Array;
  /** Bytes of a piece that is written at once, or breaks within characters alone. */
  pieces?: number | "characters";
  /** The connection is destroyed after the body. */
  breaks?: true;
};

export type Play = (asked: Asked) => Reply | Promise<Reply>;

export type Outcome = {
  /** The calls that were run, by their number, in any order. */
  runs: readonly string[];
  /** The whole answer, or a part of it. The tag is taken out of it: `did 1` is the first call's result. */
  answer: string | RegExp;
  /** Parts of the answer. */
  says?: readonly string[];
  /** Advice of the gateway alone: a device's answer goes to a model. */
  advice?: string;
  /** A turn's status. */
  status?: "done" | "failed";
  /** Requests that were spent, or the least and the most. */
  requests: number | readonly [least: number, most: number];
};

export type Case = {
  /** Of findings that a fault is known by; absent: it was right before. */
  row?: string;
  play: Play;
  outcome: Outcome;
  /** What differs in a device's own loop; false: the case is none there. */
  device?: Partial<Outcome> | false;
};
export type Cases = Readonly<Record<string, Case>>;

export const sse = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const DONE = sse("[DONE]");
export const STREAM = { "content-type": "text/event-stream" };

export const delta = (part: object, more: object = {}) => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta: part, finish_reason: null, ...more }],
});
export const words = (content: string) => delta({ content });
export const pieces = (...tool_calls: unknown[]) => delta({ tool_calls });
export const finish = (finish_reason: string) => delta({}, { finish_reason });
export const USAGE = { choices: [], usage: { prompt_tokens: 11, completion_tokens: 7 } };

export const text = (events: readonly unknown[]) => events.map(sse).join("") + DONE;
export const stream = (...events: unknown[]): Reply => ({ headers: STREAM, body: text(events) });
export const say = (content: string, reason = "stop") => stream(words(content), finish(reason), USAGE);
export const raw = (type: string | undefined, body: string): Reply => ({
  ...(type !== undefined && { headers: { "content-type": type } }),
  body,
});
export function refuse(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  const isText = typeof body === "string";
  const type = !isText ? "application/json" : body.startsWith("<") ? "text/html" : "text/plain";
  return {
    status,
    headers: { "content-type": type, ...headers },
    body: isText ? body : JSON.stringify(body),
  };
}

export const newId = () => `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 12)}`;

export type Wanted = { name: string; args: Record<string, unknown> };

/** The call that a case wants: the gateway's of a device, or the device's of its own tool. */
export function wanted({ isDevice, agent, tag }: Asked, n = "1"): Wanted {
  const params = { n: `${tag}-${n}` };
  return isDevice
    ? { name: "bump", args: params }
    : { name: "edge_call", args: { agent_id: agent, action: "bump", params } };
}
export const json = ({ args }: Wanted) => JSON.stringify(args);
export const fn = (call: Wanted, args: unknown = json(call)) => ({ name: call.name, arguments: args });
export const piece = (call: Wanted, index = 0) => ({
  index,
  id: newId(),
  type: "function",
  function: fn(call),
});
export const called = (call: Wanted) => [pieces(piece(call)), finish("tool_calls"), USAGE];
export const oneCall: Play = (asked) => stream(...called(wanted(asked)));

/** Of the tools' results since the question. */
export function resultsOf({ messages }: Body): string {
  const isQuestion = ({ role, content }: Message) =>
    role === "user" && JSON.stringify(content ?? "").includes("[[");
  return messages
    .slice(messages.findLastIndex(isQuestion) + 1)
    .filter(({ role }) => role === "tool")
    .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
    .join(" | ");
}
export const final: Play = ({ body }) => say(`FINAL(${resultsOf(body)})`);

/** One play after the other; the last one again and again. */
export function inTurn(...plays: readonly Play[]): Play {
  return (asked) => (plays[Math.min(asked.at, plays.length - 1)] ?? final)(asked);
}
export const always =
  (reply: Reply): Play =>
  () =>
    reply;
/** A call in a form of its own, and the answer. */
export const callThen = (make: (call: Wanted, asked: Asked) => Reply): Play =>
  inTurn((asked) => make(wanted(asked), asked), final);
export const events = (make: (call: Wanted, asked: Asked) => unknown[]): Play =>
  callThen((call, asked) => stream(...make(call, asked)));
/** Something that passes, then a call and the answer. */
export const once = (reply: Reply): Play => inTurn(always(reply), oneCall, final);
/** Refuses what an endpoint does not take; else a call and the answer. */
export function strict(breach: (body: Body) => Reply | undefined | false, takes: Play = callsOnce): Play {
  return (asked) => breach(asked.body) || takes(asked);
}
/** A call where there is no result yet, however often it was asked. */
export const callsOnce: Play = (asked) => (resultsOf(asked.body) === "" ? oneCall(asked) : final(asked));

/** A call, and the answer with its result. */
export const RUN_ONCE: Outcome = { runs: ["1"], answer: "FINAL(did 1)", requests: 2 };
/** The same, after something that passed. */
export const RUN_AFTER: Outcome = { ...RUN_ONCE, requests: 3 };

/** Each value of a table as a case. */
export function each<T>(table: Readonly<Record<string, T>>, make: (value: T) => Case): Cases {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, make(value)]));
}
