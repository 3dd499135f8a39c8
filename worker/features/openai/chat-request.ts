/** The body of `POST /v1/chat/completions`. Unknown fields are ignored, as these clients expect. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { ClientHistoryCall } from "../../kernel/api/turns.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { answerForm } from "./answer-form.ts";
import type { ClientMessage } from "./client-messages.ts";

export const Part = z.looseObject({
  type: z.string(),
  text: z.optional(z.nullable(z.string())),
  image_url: z.optional(z.nullable(z.union([z.string(), z.looseObject({ url: z.string() })]))),
});

const Call = z.looseObject({
  id: z.optional(z.nullable(z.string().check(z.maxLength(500)))),
  function: z.optional(
    z.nullable(
      z.looseObject({
        name: z.string().check(z.maxLength(200)),
        arguments: z.optional(z.nullable(z.string())),
      }),
    ),
  ),
});

const Message = z.looseObject({
  role: z.string(),
  content: z.optional(z.nullable(z.union([z.string(), z.array(Part).check(z.maxLength(200))]))),
  tool_calls: z.optional(z.nullable(z.array(Call).check(z.maxLength(200)))),
  tool_call_id: z.optional(z.nullable(z.string().check(z.maxLength(500)))),
});

export const ChatRequest = z.looseObject({
  model: z.optional(z.nullable(z.string().check(z.maxLength(200)))),
  messages: z.array(Message).check(z.minLength(1), z.maxLength(5_000)),
  stream: z.optional(z.nullable(z.boolean())),
  stream_options: z.optional(
    z.nullable(z.looseObject({ include_usage: z.optional(z.nullable(z.boolean())) })),
  ),
  n: z.optional(z.nullable(z.number())),
  user: z.optional(z.nullable(z.string().check(z.maxLength(1_000)))),
  metadata: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  tools: z.optional(z.unknown()),
  edge: z.optional(z.unknown()),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** @throws HttpError 400 for a message that cannot be used */
export function messagesInChat(request: ChatRequest): ClientMessage[] {
  if (request.n != null && request.n !== 1)
    throw new HttpError(400, "invalid_body", "n: one answer is given, since devices act once");
  const messages = request.messages.flatMap((message, index): ClientMessage[] => {
    const { role, content, tool_calls, tool_call_id } = message;
    const known = roleOf(role);
    if (!known) return [];
    const words = contentOf(content ?? "", known, `messages.${index}.content`);
    if (known === "tool") return tool_call_id ? [{ role: known, ...words, call: tool_call_id }] : [];
    const calls = (tool_calls ?? []).flatMap(({ id, function: called }): ClientHistoryCall[] =>
      id && called ? [{ id, name: called.name, arguments: called.arguments ?? "" }] : [],
    );
    return [{ role: known, ...words, ...(known === "assistant" && calls.length > 0 && { calls }) }];
  });
  return [...messages, ...answerForm(request.response_format)];
}

export function roleOf(role: string): ClientMessage["role"] | undefined {
  if (role === "developer" || role === "system") return "system";
  return role === "user" || role === "assistant" || role === "tool" ? role : undefined;
}

/** The model gets a text as the result of a tool. */
const NOT_SHOWN = "[a picture or file that is not shown]";

/** @returns text and pictures of a message @throws HttpError 400 for a user's part that would be lost */
export function contentOf(
  content: string | Array<z.infer<typeof Part>>,
  role: ClientMessage["role"],
  field: string,
): Pick<ClientMessage, "text" | "images"> {
  if (typeof content === "string") return { text: content, images: [] };
  const texts: string[] = [];
  const images: string[] = [];
  for (const [index, { type, text, image_url }] of content.entries()) {
    const url = typeof image_url === "string" ? image_url : image_url?.url;
    if (typeof text === "string") texts.push(text);
    else if (role === "tool") texts.push(NOT_SHOWN);
    else if (typeof url === "string") images.push(url);
    else if (role === "user")
      throw new HttpError(
        400,
        "invalid_body",
        `${field}.${index}: text and pictures are taken, not '${type.slice(0, 40)}'`,
      );
  }
  return { text: texts.join("\n"), images };
}
