/** Writes the outcome of a call for an MCP client: text, pictures, links to files, and what to do next. */
import { toBase64 } from "@edgecall/core/encoding.ts";
import { outcomeForModel } from "@edgecall/core/loop/history.ts";
import { isPicture, type Media, type StoredMedia } from "@edgecall/core/protocol/media.ts";
import { hiddenNotice, visible, visibleJson } from "@edgecall/core/tools/visible.ts";
import type { SettledOutcome } from "../../kernel/api/calls.ts";
import { conversationOfMedia } from "../../kernel/api/media.ts";
import type { AskedQuestion } from "../../kernel/api/questions.ts";
import { conversationOf } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { CallEnd } from "./device-call.ts";
import type { CallToolResult, ContentBlock } from "./protocol.ts";
import { EDGE_RESULT } from "./tools.ts";

/** Bytes of all pictures of one answer; further pictures are links. Models accept 5 MB at most. */
const PICTURES_MAX_BYTES = 3 * 1024 * 1024;

export type AnswerPlace = {
  env: Env;
  home: string;
  /** The address at which the client reaches this gateway. */
  origin: string;
  agent: string;
  call: string;
};

export async function answerOf(end: CallEnd, place: AnswerPlace): Promise<CallToolResult> {
  switch (end.end) {
    case "outcome":
      return await answerOfOutcome(end.outcome, place);
    case "question":
      return textAnswer(askedText(end.question, place), place, "waiting_for_person");
    case "running":
      return textAnswer(
        `Still running on '${place.agent}'; whether it is done is not known yet. ${lookAgain(place)}`,
        place,
        "running",
      );
  }
}

async function answerOfOutcome(outcome: SettledOutcome, asked: AnswerPlace): Promise<CallToolResult> {
  // The call may have named no agent.
  const place = { ...asked, agent: outcome.routed?.agent ?? asked.agent };
  if (outcome.job !== undefined) {
    const job = { ...place, call: outcome.job };
    const text = `Accepted by '${place.agent}', not done: it works on, or gets this when it comes online. ${lookAgain(job)}`;
    return textAnswer(text, job, "accepted");
  }
  const content: ContentBlock[] = [{ type: "text", text: outcomeForModel(outcome) || "(no output)" }];
  let left = PICTURES_MAX_BYTES;
  for (const media of outcome.media ?? []) {
    const block = await mediaBlock(media, place, left);
    if (block.type === "image") left -= media.bytes;
    content.push(block);
  }
  return {
    content,
    ...(outcome.status === "error" && { isError: true }),
    _meta: {
      ...metaOf(place, outcome.status),
      ...(outcome.errorType && { "edgecall/error_type": outcome.errorType }),
      ...(outcome.asked === false && { "edgecall/asked": false }),
      "edgecall/elapsed_ms": outcome.elapsedMs,
    },
  };
}

async function mediaBlock(media: Media, place: AnswerPlace, left: number): Promise<ContentBlock> {
  const fits = isPicture(media) && media.bytes <= left;
  if ("data" in media) {
    return fits
      ? { type: "image", data: media.data, mimeType: media.media_type }
      : { type: "text", text: `[${media.media_type}, ${media.bytes} bytes, left out: too many pictures]` };
  }
  const data = fits ? await storedData(media, place) : undefined;
  return data === undefined ? link(media, place) : { type: "image", data, mimeType: media.media_type };
}

/** @returns base64; undefined when the file is not of this call: a device may claim any id */
async function storedData(media: StoredMedia, { env, home, call }: AnswerPlace): Promise<string | undefined> {
  const found = conversationOfMedia(media.id);
  if (found?.channel !== "mcp" || found.conversation !== call) return undefined;
  const stored = await conversationOf(env, `${home}/mcp/${call}`).media(media.id);
  return stored && toBase64(stored.data);
}

function link(media: StoredMedia, { origin }: AnswerPlace): ContentBlock {
  return {
    type: "resource_link",
    uri: `${origin}/v1/media/${media.id}`,
    name: media.id.slice(0, media.id.indexOf(".")),
    description: "Needs the same bearer token.",
    mimeType: media.media_type,
    size: media.bytes,
  };
}

function askedText(question: AskedQuestion, place: AnswerPlace): string {
  const { id, text, options, approval, expiresAt } = question;
  const hidden = hiddenNotice(text);
  const answers = approval ? "approve or deny" : visible(options.join(", ")) || "any text";
  const who = approval ? "a person with the right to approve" : "a person";
  return [
    `Nothing has run yet: '${place.agent}' waits for ${who}, and you cannot answer for them. It asks:`,
    visibleJson(text),
    ...(hidden === undefined ? [] : [hidden]),
    `They answer (${answers}) at ${place.origin}/v1/questions/${id}, before ${new Date(expiresAt).toISOString()}.`,
    `Tell them so. ${lookAgain(place)}`,
  ].join("\n");
}

export function lookAgain({ agent, call }: Pick<AnswerPlace, "agent" | "call">): string {
  return `Its result: ${EDGE_RESULT} with agent_id '${agent}' and call_id '${call}'. Do not call it anew.`;
}

function textAnswer(text: string, place: AnswerPlace, status: string): CallToolResult {
  return { content: [{ type: "text", text }], _meta: metaOf(place, status) };
}

/** Data for programs. It is not in `structuredContent`, because some clients give a model that in place of the text. */
export function metaOf(
  { agent, call }: Pick<AnswerPlace, "agent" | "call">,
  status: string,
): Record<string, unknown> {
  return { "edgecall/agent_id": agent, "edgecall/call_id": call, "edgecall/status": status };
}
