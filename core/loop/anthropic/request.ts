/** Makes the body of a request to Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages). Pure. */
import type { Habit } from "../habits.ts";
import { NOTE_PREFIX } from "../messages.ts";
import { sourceOf } from "../replay.ts";
import type { ModelRequest, ModelSettings } from "../request.ts";
import type { Body, CacheMark, Message, Tool, ToolChoice, UserBlock } from "./blocks.ts";
import { convert, textBlock } from "./messages.ts";

const MARK: CacheMark = { type: "ephemeral" };
const GO_ON = "Go on.";
const NO_CALL: ToolChoice = { type: "none" };
/** Every model takes as many. */
const FEWER_TOKENS = 4_096;

/**
 * At most four marks, which is all that the API takes: the tools, the system text, the end of the history, and its end in the request
 * before: the API looks for an older prefix at no more than twenty blocks before a mark. The members stand in the order of the API's cache.
 * Thinking is not switched on: newer models think by themselves.
 * @param habits the forms that the endpoint takes instead
 */
export function messagesBody(
  settings: ModelSettings,
  request: ModelRequest,
  habits: ReadonlySet<Habit> = new Set(),
): Body {
  const { system, messages, passing } = convert(request.messages, {
    from: habits.has("no_replay") ? "" : sourceOf(settings),
    seesPictures: !habits.has("no_pictures"),
  });
  const offered = request.tools.map(toolOf);
  const tools = offered.length > 0 ? offered : calledTools(messages);
  const choice = offered.length > 0 ? choiceOf(request.toolChoice) : NO_CALL;
  const hasChoice = choice && tools.length > 0 && !habits.has("no_tool_choice");
  // A summary is asked for once: to store it would cost more than it saves.
  const isLoop = tools.length > 0 || system !== "";
  const mark = habits.has("no_cache_marks") ? {} : { cache_control: MARK };
  if (isLoop) for (const block of historyEnds(messages)) Object.assign(block, mark);
  addPassing(messages, passing);
  const maxTokens = request.maxTokens ?? settings.maxTokens;
  const hasTemperature = settings.temperature !== undefined && !habits.has("no_temperature");
  return {
    model: settings.model,
    max_tokens: habits.has("fewer_tokens") ? Math.min(maxTokens, FEWER_TOKENS) : maxTokens,
    stream: !habits.has("no_stream"),
    ...(tools.length > 0 && {
      tools: tools.map((tool, at) => ({ ...tool, ...(at === tools.length - 1 && mark) })),
    }),
    ...(system && { system: [{ ...textBlock(system), ...mark }] }),
    messages,
    ...(hasChoice && { tool_choice: choice }),
    ...(hasTemperature && { temperature: settings.temperature }),
    ...(habits.has("no_thinking") && { thinking: { type: "disabled" } }),
  };
}

/** The last blocks of the person's newest two messages: of this request's history, and of the one before it. */
function historyEnds(messages: readonly Message[]): UserBlock[] {
  const ends = messages.flatMap(({ role, content }) => (role === "user" ? content.slice(-1) : []));
  return ends.slice(-2);
}

/** These messages stand behind the last mark, as the newest words to the model: newer models refuse to continue a message of their own. */
function addPassing(messages: Message[], passing: string): void {
  const last = messages.at(-1);
  if (last?.role !== "user")
    messages.push({ role: "user", content: [textBlock(NOTE_PREFIX + (passing || GO_ON))] });
  else if (passing) last.content.push(textBlock(NOTE_PREFIX + passing));
}

/** The API wants the tools that a history has called, also where none may be called any more. */
function calledTools(messages: readonly Message[]): Tool[] {
  const names = messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "tool_use" ? [block.name] : [])),
  );
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: "object" } }));
}

function toolOf({ function: { name, description, parameters } }: ModelRequest["tools"][number]): Tool {
  return {
    name,
    ...(description && { description }),
    input_schema: { ...parameters, type: "object" },
  };
}

function choiceOf(choice: ModelRequest["toolChoice"]): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (choice === "none") return NO_CALL;
  return choice === "required" ? { type: "any" } : { type: "tool", name: choice.function.name };
}
