/** Converts the answer of an MCP tool to a result of the tool contract. */

import { MEDIA_MAX_BYTES, MEDIA_TYPE, registeredType } from "@edgecall/core/protocol/media.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { forModel } from "@edgecall/core/tools/advice.ts";
import {
  type Content,
  faultResult,
  type ToolContext,
  type ToolResult,
  Unstorable,
} from "@edgecall/core/tools/contract.ts";
import type { Params } from "./messages.ts";

const Block = z.looseObject({
  type: z.string(),
  text: z.optional(z.string()),
  data: z.optional(z.string()),
  mimeType: z.optional(z.string()),
  uri: z.optional(z.string()),
  resource: z.optional(
    z.looseObject({
      uri: z.optional(z.string()),
      text: z.optional(z.string()),
      blob: z.optional(z.string()),
      mimeType: z.optional(z.string()),
    }),
  ),
});
type Block = z.infer<typeof Block>;

/** The blocks of an answer beyond this number are left out. */
const BLOCKS_MAX = 64;

export async function resultOf(answer: Params, context: Pick<ToolContext, "artifact">): Promise<ToolResult> {
  if (answer.resultType === "input_required")
    return faultResult("tool_failed", {
      text: "Error: The MCP server wants to ask something first, which is not possible here.",
      advice: "Explain to the user.",
    });
  const blocks: unknown[] = Array.isArray(answer.content) ? answer.content.slice(0, BLOCKS_MAX) : [];
  const content: Content[] = [];
  for (const block of blocks) {
    const read = check(Block, block);
    if (read.ok) content.push(await contentOf(read.value, context));
  }
  if (content.length === 0 && answer.structuredContent !== undefined)
    content.push({ type: "text", text: JSON.stringify(answer.structuredContent) });
  if (answer.isError !== true) return { content };
  const text = content
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n")
    .trim();
  return {
    content,
    fault: {
      code: "tool_failed",
      message: text || "Error: The MCP server reported a failure without words.",
    },
  };
}

async function contentOf(
  { type, text, data, mimeType, uri, resource }: Block,
  context: Pick<ToolContext, "artifact">,
): Promise<Content> {
  if (type === "text") return textContent(text ?? "");
  if ((type === "image" || type === "audio") && data !== undefined)
    return await artifact(data, mimeType, context);
  if (type === "resource_link") return textContent(`[link ${uri ?? ""}]`);
  if (type === "resource" && resource?.text !== undefined) return textContent(resource.text);
  if (type === "resource" && resource?.blob !== undefined)
    return await artifact(resource.blob, resource.mimeType, context);
  return textContent(`[${type}]`);
}

async function artifact(
  base64: string,
  mimeType: string | undefined,
  context: Pick<ToolContext, "artifact">,
): Promise<Content> {
  const bytes = Buffer.from(base64, "base64");
  const type = registeredType(mimeType ?? "");
  const mediaType = MEDIA_TYPE.test(type) ? type : "application/octet-stream";
  if (bytes.length === 0 || bytes.length > MEDIA_MAX_BYTES)
    return textContent(`[${mediaType} of ${bytes.length} bytes, left out]`);
  try {
    return await context.artifact(bytes, mediaType);
  } catch (error) {
    if (error instanceof Unstorable) return textContent(`[${mediaType}: ${forModel(error.words)}]`);
    throw error;
  }
}

function textContent(text: string): Content {
  return { type: "text", text };
}
