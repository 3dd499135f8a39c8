/** Brings the messages of a request to the form that an endpoint takes (habits.ts). Pure. */
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { Habit } from "./habits.ts";

type Message = ChatCompletionMessageParam;
type Assistant = ChatCompletionAssistantMessageParam;

/** Replaces a signature that Gemini did not make (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs). */
const DUMMY_SIGNATURE = { google: { thought_signature: "skip_thought_signature_validator" } };
export const NOT_SEEN = "[a picture that this model cannot see; say so if it matters]";
/** Between the results of calls and the next message of a person. */
const BETWEEN = "(I saw these results.)";

/** @param messages without replays */
export function inForm(messages: readonly Message[], habits: ReadonlySet<Habit>): Message[] {
  let all = [...messages];
  if (habits.has("no_pictures")) all = all.map(withoutPictures);
  if (habits.has("no_system")) all = withoutSystem(all);
  if (habits.has("one_call_a_message")) all = all.flatMap((message) => oneByOne(message, messages));
  if (habits.has("dummy_signatures")) all = all.map(withSignatures);
  if (habits.has("empty_reasoning")) all = all.map(withReasoning);
  if (habits.has("no_null_content")) all = all.map(withContent);
  if (habits.has("named_results")) all = withNames(all);
  if (habits.has("ids_of_nine")) all = all.map(withShortIds);
  if (habits.has("alternating_roles")) all = merged(all);
  if (habits.has("answer_after_results")) all = withAnswers(all);
  return all;
}

function withoutPictures(message: Message): Message {
  if (message.role !== "user" || typeof message.content === "string") return message;
  const content = message.content.map((part) => (part.type === "text" ? part.text : NOT_SEEN));
  return { role: "user", content: content.join("\n") };
}

/** The system text goes before the first message of a person. */
function withoutSystem(messages: readonly Message[]): Message[] {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => textOf(content));
  const rest = messages.filter(({ role }) => role !== "system");
  return system.length === 0 ? rest : merged([{ role: "user", content: system.join("\n\n") }, ...rest]);
}

/** A call and its result, then the next call. The results that follow are taken to their calls. */
function oneByOne(message: Message, all: readonly Message[]): Message[] {
  if (message.role === "tool") return isOfSeveral(message.tool_call_id, all) ? [] : [message];
  if (message.role !== "assistant" || (message.tool_calls?.length ?? 0) < 2) return [message];
  return (message.tool_calls ?? []).flatMap((call, at): Message[] => [
    { ...message, content: at === 0 ? (message.content ?? null) : null, tool_calls: [call] },
    ...all.filter((it) => it.role === "tool" && it.tool_call_id === call.id),
  ]);
}

function isOfSeveral(id: string, all: readonly Message[]): boolean {
  return all.some(
    (it) =>
      it.role === "assistant" &&
      (it.tool_calls?.length ?? 0) > 1 &&
      it.tool_calls?.some((call) => call.id === id),
  );
}

/** Gemini wants a signature at the first call of a message. */
function withSignatures(message: Message): Message {
  if (message.role !== "assistant" || !message.tool_calls) return message;
  const calls = message.tool_calls.map((call, at) =>
    at > 0 || "extra_content" in call ? call : { ...call, extra_content: DUMMY_SIGNATURE },
  );
  return { ...message, tool_calls: calls };
}

function withReasoning(message: Message): Message {
  if (message.role !== "assistant" || !message.tool_calls || "reasoning_content" in message) return message;
  return { ...message, reasoning_content: "" } as Assistant;
}

function withContent(message: Message): Message {
  return message.role === "assistant" && message.content == null ? { ...message, content: "" } : message;
}

function withNames(messages: readonly Message[]): Message[] {
  const names = new Map<string, string>();
  return messages.map((message) => {
    if (message.role === "assistant")
      for (const call of message.tool_calls ?? [])
        if (call.type === "function") names.set(call.id, call.function.name);
    if (message.role !== "tool") return message;
    const name = names.get(message.tool_call_id);
    return name === undefined ? message : ({ ...message, name } as Message);
  });
}

function withShortIds(message: Message): Message {
  if (message.role === "tool") return { ...message, tool_call_id: shortId(message.tool_call_id) };
  if (message.role !== "assistant" || !message.tool_calls) return message;
  return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: shortId(call.id) })) };
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** @returns nine letters and digits, the same for the same id */
function shortId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  // Two hashes of 32 bits (FNV-1a with different seeds): 62^9 needs 53 bits of them.
  let [a, b] = [0x811c9dc5, 0x9747b28c];
  for (const char of id) {
    const code = char.codePointAt(0) ?? 0;
    a = Math.imul(a ^ code, 0x01000193) >>> 0;
    b = Math.imul(b ^ code, 0x85ebca6b) >>> 0;
  }
  let [value, short] = [BigInt(a) * 0x100000000n + BigInt(b), ""];
  for (; short.length < 9; value /= 62n) short += LETTERS[Number(value % 62n)];
  return short;
}

/** Messages of one role in a row become one. Results are messages of their own. */
function merged(messages: readonly Message[]): Message[] {
  const all: Message[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role === "user" && message.role === "user")
      all[all.length - 1] = { role: "user", content: both(last.content, message.content) };
    else if (isText(last) && isText(message))
      all[all.length - 1] = { ...last, content: `${textOf(last.content)}\n\n${textOf(message.content)}` };
    else all.push(message);
  }
  return all;
}

/** An assistant's text without calls. */
function isText(message: Message | undefined): message is Assistant {
  return message?.role === "assistant" && !message.tool_calls && typeof message.content === "string";
}

type UserContent = Extract<Message, { role: "user" }>["content"];

function both(a: UserContent, b: UserContent): UserContent {
  if (typeof a === "string" && typeof b === "string") return `${a}\n\n${b}`;
  const parts = (it: UserContent) => (typeof it === "string" ? [{ type: "text" as const, text: it }] : it);
  return [...parts(a), ...parts(b)];
}

function withAnswers(messages: readonly Message[]): Message[] {
  return messages.flatMap((message, at): Message[] =>
    message.role === "user" && messages[at - 1]?.role === "tool"
      ? [{ role: "assistant", content: BETWEEN }, message]
      : [message],
  );
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown }) => (typeof part.text === "string" ? part.text : ""))
    .join("\n");
}
