/** For tests inside workerd: uses the OpenAI routes as a client does. */
import { env } from "cloudflare:workers";
import { placeOfKey } from "../worker/features/openai/conversation-key.ts";
import { ask } from "./workerd.ts";

type Json = Record<string, unknown>;

export function post(path: string, body: unknown, init: Parameters<typeof ask>[1] = {}): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return ask(path, { method: "POST", body: text, ...init });
}

export const user = (content: unknown) => ({ role: "user", content });
export const assistant = (content: unknown) => ({ role: "assistant", content });

/** @param name of a chat of the owner @returns its object */
export async function chatNamed(name: string) {
  const { name: object } = await placeOfKey(
    { hash: "", name: "anna", home: "a", role: "owner", scopes: [] },
    name,
  );
  return env.CONVERSATION.getByName(object);
}

/** Asks one question without streaming. */
export async function chat(messages: unknown[], more: Json = {}, headers: Record<string, string> = {}) {
  const response = await post("/v1/chat/completions", { model: "gpt-4o", messages, ...more }, { headers });
  const body = (await response.json()) as Completion;
  return { status: response.status, headers: response.headers, body };
}

export type Completion = {
  choices: Array<{ message: { content: string; reasoning_content?: string }; finish_reason: string }>;
  usage: Json;
  edge: { turn: string; status: string; conversation?: string };
  edgecall?: { asked: false };
  metadata: Json;
  model: string;
  error?: { message: string; type: string; code: string; param: string | null };
};

/** Reads the data of all events; `text` is the raw stream. */
export async function events(response: Response) {
  const text = await response.text();
  const data = text
    .split("\n\n")
    .flatMap((block) => block.match(/^data: (.*)$/m)?.[1] ?? [])
    .filter((line) => line !== "[DONE]")
    .map((line) => JSON.parse(line) as Json);
  return { text, data };
}
