/** For tests inside workerd: what the scripted model was asked, and its holds. */
import { env } from "cloudflare:workers";
import type { ModelRequest } from "./scripted-model.ts";

/**
 * What the model was asked with this question, or with these words somewhere in its messages. All files of the project
 * share the model, which chooses: to send everything took seconds at the end of a run, for each look.
 */
export async function modelRequests(about: { question?: string; words?: string }): Promise<ModelRequest[]> {
  const init = { method: "POST", body: JSON.stringify(about) };
  return await (await fetch(`${env.LLM_BASE_URL}/requests`, init)).json();
}

/** For one question: the model of each request, in their order. */
export async function modelsAsked(question: string): Promise<string[]> {
  return (await modelRequests({ question })).map(({ model }) => model);
}

export async function modelCalls(question: string): Promise<number> {
  return (await modelRequests({ question })).length;
}

/** How often the gateway asked on its own account, for a summary of something that holds these words. */
export async function summaryCalls(words: string): Promise<number> {
  return (await modelRequests({ question: "", words })).length;
}

/** The newest request for a question, whole. */
export async function modelRequest(question: string): Promise<ModelRequest | undefined> {
  return (await modelRequests({ question })).at(-1);
}

/** Lets a step of the scripted model go on. */
export async function releaseModel(name: string): Promise<void> {
  await fetch(`${env.LLM_BASE_URL}/release/${name}`, { method: "POST", body: "" });
}
