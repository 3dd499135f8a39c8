/** For tests inside workerd: reads the scripted model's requests and releases its holds. */
import { env } from "cloudflare:workers";
import type { ModelRequest } from "./scripted-model.ts";

/**
 * Returns the model's requests with this question, or with these words in their messages. All test files share the model, so
 * it filters them itself: sending all of them took seconds at the end of a run.
 */
export async function modelRequests(about: { question?: string; words?: string }): Promise<ModelRequest[]> {
  const init = { method: "POST", body: JSON.stringify(about) };
  return await (await fetch(`${env.LLM_BASE_URL}/requests`, init)).json();
}

/** Returns the model name of each request for a question, in order. */
export async function modelsAsked(question: string): Promise<string[]> {
  return (await modelRequests({ question })).map(({ model }) => model);
}

export async function modelCalls(question: string): Promise<number> {
  return (await modelRequests({ question })).length;
}

/** Counts the gateway's own requests for a summary of a text with these words. */
export async function summaryCalls(words: string): Promise<number> {
  return (await modelRequests({ question: "", words })).length;
}

/** Returns the newest request for a question. */
export async function modelRequest(question: string): Promise<ModelRequest | undefined> {
  return (await modelRequests({ question })).at(-1);
}

/** Releases a held step of the scripted model. */
export async function releaseModel(name: string): Promise<void> {
  await fetch(`${env.LLM_BASE_URL}/release/${name}`, { method: "POST", body: "" });
}
