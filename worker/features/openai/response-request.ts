/** The body of `POST /v1/responses`. Unknown fields are ignored, as these clients expect. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { answerForm } from "./answer-form.ts";
import { contentOf, Part, roleOf } from "./chat-request.ts";
import type { ClientMessage } from "./client-messages.ts";

const Item = z.looseObject({
  id: z.optional(z.nullable(z.string().check(z.maxLength(500)))),
  type: z.optional(z.nullable(z.string())),
  role: z.optional(z.nullable(z.string())),
  content: z.optional(z.nullable(z.union([z.string(), z.array(Part).check(z.maxLength(200))]))),
  // Fields of a `function_call` and of its `function_call_output`.
  call_id: z.optional(z.nullable(z.string().check(z.maxLength(500)))),
  name: z.optional(z.nullable(z.string().check(z.maxLength(200)))),
  arguments: z.optional(z.nullable(z.string())),
});

export type ResponseItem = z.infer<typeof Item>;

const Output = z.union([z.string(), z.array(Part).check(z.maxLength(200))]);

export const ResponseRequest = z.looseObject({
  model: z.optional(z.nullable(z.string().check(z.maxLength(200)))),
  input: z.union([z.string(), z.array(Item).check(z.minLength(1), z.maxLength(5_000))]),
  instructions: z.optional(z.nullable(z.string())),
  stream: z.optional(z.nullable(z.boolean())),
  background: z.optional(z.nullable(z.boolean())),
  store: z.optional(z.nullable(z.boolean())),
  previous_response_id: z.optional(z.nullable(z.string().check(z.maxLength(300)))),
  conversation: z.optional(
    z.nullable(z.union([z.string(), z.looseObject({ id: z.string().check(z.maxLength(1_000)) })])),
  ),
  user: z.optional(z.nullable(z.string().check(z.maxLength(1_000)))),
  metadata: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  tools: z.optional(z.unknown()),
  edge: z.optional(z.unknown()),
  text: z.optional(z.nullable(z.looseObject({ format: z.optional(z.unknown()) }))),
});
export type ResponseRequest = z.infer<typeof ResponseRequest>;

/** @throws HttpError 400 for an item that cannot be used */
export function messagesInResponse({ input, instructions, text }: ResponseRequest): ClientMessage[] {
  const first: ClientMessage[] = instructions
    ? [{ role: "system", text: instructions, images: [], beside: true }]
    : [];
  const items: ResponseItem[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const messages: ClientMessage[] = [];
  for (const [index, item] of items.entries()) {
    const { type, role, content, call_id, name } = item;
    if (type === "function_call" && call_id && name) {
      const call = { id: call_id, name, arguments: item.arguments ?? "" };
      const before = messages.at(-1);
      // Consecutive calls belong to one reply.
      if (before?.role === "assistant") before.calls = [...(before.calls ?? []), call];
      else messages.push({ role: "assistant", text: "", images: [], calls: [call] });
    } else if (type === "function_call_output" && call_id) {
      const output = Output.safeParse(item.output);
      if (!output.success)
        throw new HttpError(
          400,
          "invalid_body",
          `input.${index}.output: expected a text`,
          `input.${index}.output`,
        );
      messages.push({
        role: "tool",
        ...contentOf(output.data, "tool", `input.${index}.output`),
        call: call_id,
      });
    } else {
      // Other items without a role (reasoning, calls of devices) come from earlier turns, whose rows have them.
      const known = roleOf(role ?? "");
      if (known && known !== "tool")
        messages.push({ role: known, ...contentOf(content ?? "", known, `input.${index}.content`) });
    }
  }
  return [...first, ...messages, ...answerForm(text?.format)];
}
