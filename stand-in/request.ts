/** Reads and checks a chat completion request. */
import { z } from "@edgecall/core/protocol/parse.ts";

/** A tool that the request offers; its schema is not trusted. */
export type OfferedTool = { name: string; description: string; parameters: Record<string, unknown> };

const toolCall = z.object({
  id: z.string(),
  function: z.object({ name: z.string(), arguments: z.optional(z.string()) }),
});

const message = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.optional(
    z.nullable(z.union([z.string(), z.array(z.object({ type: z.string(), text: z.optional(z.string()) }))])),
  ),
  tool_calls: z.optional(z.nullable(z.array(toolCall))),
  tool_call_id: z.optional(z.string()),
});
export type Message = z.infer<typeof message>;

export const chatRequest = z.object({
  model: z.string(),
  messages: z.array(message).check(z.minLength(1)),
  tools: z.optional(
    z.nullable(
      z.array(
        z.object({
          type: z.literal("function"),
          function: z.object({
            name: z.string().check(z.minLength(1)),
            description: z.optional(z.nullable(z.string())),
            parameters: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
          }),
        }),
      ),
    ),
  ),
  tool_choice: z.optional(z.unknown()),
  stream: z.optional(z.nullable(z.boolean())),
  stream_options: z.optional(z.nullable(z.object({ include_usage: z.optional(z.boolean()) }))),
});
export type ChatRequest = z.infer<typeof chatRequest>;

/** The tools that may be called; none under `tool_choice: "none"`. */
export function offeredTools(request: ChatRequest): OfferedTool[] {
  if (request.tool_choice === "none") return [];
  return (request.tools ?? []).map(({ function: { name, description, parameters } }) => ({
    name,
    description: description ?? "",
    parameters: parameters ?? {},
  }));
}

export function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}
