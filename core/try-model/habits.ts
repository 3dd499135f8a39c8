/**
 * Finds out which habits an endpoint and its model have, by a handful of small requests, and says what edgecall does about each.
 * The requests go by the product's own client, whose fetch is listened to.
 */
import { apiOf } from "../loop/api.ts";
import { HabitsInMemory } from "../loop/habits.ts";
import type { ChatMessage } from "../loop/messages.ts";
import { callModel, type Fetch } from "../loop/model.ts";
import type { ModelReply } from "../loop/model-reply.ts";
import { replayOf, sourceOf } from "../loop/replay.ts";
import { toCalls } from "../loop/reply.ts";
import type { ModelRequest, ModelSettings } from "../loop/request.ts";
import { ModelError } from "../loop/retry.ts";
import type { ToolDefinition } from "../tools/registry.ts";

/** @property isBad edgecall cannot make up for it */
export type Habit = { habit: string; seen: string; edgecall: string; isBad?: true };

/** One exchange with the endpoint, as it was seen. */
type Heard = { status: number; type: string; begins: string };

/** A red square of 8 × 8 pixels. */
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC";
const SYSTEM: ChatMessage = { role: "system", content: "Use your tools for facts about the home. Be brief." };
const WORDS_CHARS = 120;

const TOOL: ToolDefinition = {
  type: "function",
  function: {
    name: "read_temperature",
    description: "Reads the temperature of a room, in °C",
    parameters: {
      type: "object",
      properties: { room: { type: "string", description: "the room's name" } },
      required: ["room"],
    },
  },
};

const FORMS: Readonly<Record<string, string>> = {
  no_pictures: "sends words in place of pictures",
  max_completion_tokens: "sends max_completion_tokens",
  no_stream_options: "leaves stream_options out",
  no_stream: "asks for whole answers",
  no_temperature: "leaves temperature out",
  no_tool_choice: "leaves tool_choice out",
  no_replay: "sends no thoughts back",
  no_null_content: "sends empty texts in place of null",
  named_results: "names the tool in each result",
  ids_of_nine: "shortens the ids of calls to nine characters",
  answer_after_results: "puts a line of the assistant between results and the next question",
  one_call_a_message: "sends one call in each message",
  alternating_roles: "joins messages of one role",
  no_system: "puts the instructions before the first question",
  dummy_signatures: "marks calls of other models as unsigned",
  empty_reasoning: "sends empty thoughts with calls of other models",
};

/** @property onFound is told each habit as it is found @property signal ends the requests */
type Trial = { fetch?: Fetch; onFound?: (habit: Habit) => void; signal?: AbortSignal };

/**
 * @param settings of the model; what is learned is kept for the other requests here
 * @throws ModelError when the signal ended it
 */
export async function findHabits(
  settings: ModelSettings,
  { fetch = (url, init) => globalThis.fetch(url, init), onFound, signal }: Trial = {},
): Promise<Habit[]> {
  const habits = new HabitsInMemory();
  const heard: Heard[] = [];
  const model = { ...settings, habits };
  const ask = (request: Partial<ModelRequest> & { messages: ChatMessage[] }) =>
    callModel(
      model,
      { tools: [], ...request, ...(signal && { signal }), messages: [SYSTEM, ...request.messages] },
      recordingFetch(heard, fetch),
    );
  const found: Habit[] = [];
  const add = (habit: string, seen: string, edgecall: string, isBad = false) => {
    const one: Habit = { habit, seen, edgecall, ...(isBad && { isBad }) };
    found.push(one);
    onFound?.(one);
  };

  add(
    "form",
    apiOf(model) === "anthropic" ? "Anthropic's Messages" : "OpenAI's chat completions",
    "speaks it",
  );
  const question: ChatMessage = {
    role: "user",
    content: "How warm are the kitchen and the attic? Ask for both.",
  };
  const first = await tried(() => ask({ messages: [question], tools: [TOOL] }));
  if (first instanceof ModelError) {
    add("answers", short(first.message), "tells a person these words", true);
    return found;
  }
  add("stream", streamText(heard.find(({ status }) => status === 200)), "reads it by its first bytes");
  const { calls } = first;
  const hasRoom = calls.length > 0 && calls.every(({ rawArguments }) => /kitchen|attic/i.test(rawArguments));
  if (calls.length === 0)
    add("calls tools", `it answered '${short(first.text)}'`, "cannot reach a device", true);
  else add("calls tools", `${calls.length} in one reply`, calls.length > 1 ? "runs them at once" : "runs it");
  if (calls.length > 0 && !hasRoom)
    add("parameters", short(calls[0]?.rawArguments ?? ""), "checks them", true);
  add("tells tokens", first.usage ? "yes" : "no", first.usage ? "counts them" : "estimates them");
  add(
    "thoughts",
    thoughtText(first),
    first.replay ? "sends them back to this model" : "has nothing to send back",
  );
  if (calls.length > 0) add(...(await secondRequest(ask, first, question, sourceOf(model))));
  add(...(await picture(ask, () => habits.of(sourceOf(model)).includes("no_pictures"))));
  add(...(await cut(ask)));
  for (const form of habits.of(sourceOf(model)))
    if (form !== "no_pictures") add("refuses a form", form.replaceAll("_", " "), FORMS[form] ?? "knows it");
  return found;
}

type Ask = (request: Partial<ModelRequest> & { messages: ChatMessage[] }) => Promise<ModelReply>;
type Row = [habit: string, seen: string, edgecall: string, isBad?: boolean];

/** The results go back with what the first reply carried: without it many reasoning models refuse. */
async function secondRequest(ask: Ask, first: ModelReply, question: ChatMessage, from: string): Promise<Row> {
  const calls = toCalls(first.calls, new Set());
  const replay = replayOf({ ...first, from }, calls);
  const messages: ChatMessage[] = [
    question,
    {
      role: "assistant",
      content: first.text || null,
      tool_calls: calls.map((call) => ({
        id: call.modelCallId,
        type: "function",
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      })),
      ...(replay && { replay }),
    },
    ...calls.map(
      (call): ChatMessage => ({ role: "tool", tool_call_id: call.modelCallId, content: "21.5 °C" }),
    ),
  ];
  const second = await tried(() => ask({ messages, tools: [TOOL] }));
  if (second instanceof ModelError) return ["takes results", short(second.message), "loses the answer", true];
  const isTold = second.text.includes("21");
  return [
    "takes results",
    isTold ? "yes, and tells them" : `'${short(second.text)}'`,
    "goes on",
    !isTold && second.calls.length === 0,
  ];
}

async function picture(ask: Ask, isRefused: () => boolean): Promise<Row> {
  const content = [
    { type: "text" as const, text: "Which colour is this? One word." },
    { type: "image_url" as const, image_url: { url: PICTURE } },
  ];
  const reply = await tried(() => ask({ messages: [{ role: "user", content }] }));
  if (reply instanceof ModelError)
    return ["pictures", short(reply.message), "a question with a picture fails", true];
  if (isRefused()) return ["pictures", "refused", "sends words in their place, and remembers it"];
  return [
    "pictures",
    /red/i.test(reply.text) ? "taken and seen" : `taken: '${short(reply.text)}'`,
    "sends them",
  ];
}

async function cut(ask: Ask): Promise<Row> {
  const messages: ChatMessage[] = [{ role: "user", content: "Count from 1 to 200, in words." }];
  const reply = await tried(() => ask({ messages, maxTokens: 24 }));
  if (reply instanceof ModelError) return ["a cut answer", short(reply.message), "says so"];
  if (reply.finish === "length") return ["a cut answer", "marked as cut", "says so below it"];
  return ["a cut answer", `ends as ${reply.finish ?? "nothing"}`, "takes it for whole"];
}

async function tried(make: () => Promise<ModelReply>): Promise<ModelReply | ModelError> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof ModelError && error.kind !== "cancelled") return error;
    throw error;
  }
}

/** Notes status, media type and beginning of each answer. */
function recordingFetch(heard: Heard[], fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const note: Heard = {
      status: response.status,
      type: response.headers.get("content-type") ?? "no media type",
      begins: "",
    };
    heard.push(note);
    if (!response.body) return response;
    const listening = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, out) {
        if (note.begins === "") note.begins = new TextDecoder().decode(bytes).trimStart().slice(0, 6);
        out.enqueue(bytes);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(listening), { status, headers });
  };
}

function streamText(heard: Heard | undefined): string {
  if (!heard) return "nothing";
  const isJson = /^[[{]/.test(heard.begins);
  return `${isJson ? "one JSON answer" : "events"}, as ${heard.type.split(";")[0]}`;
}

function thoughtText({ replay, isThoughtful }: ModelReply): string {
  const members = Object.keys(replay?.message ?? {});
  if (members.length > 0) return members.join(", ");
  if (replay?.content !== undefined) return "within its content";
  return isThoughtful ? "in its text" : "none";
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > WORDS_CHARS ? `${line.slice(0, WORDS_CHARS)}…` : line;
}
