/** For tests inside workerd: what the scripted model was asked, and its holds. */
import { env } from "cloudflare:workers";
import type { ModelRequest } from "./scripted-model.ts";

/** For one question: the model of each request, in their order. */
export async function modelsAsked(question: string): Promise<string[]> {
  const all = (await (await fetch(`${env.LLM_BASE_URL}/requests`)).json()) as Array<{
    question: string;
    model: string;
  }>;
  return all.filter((request) => request.question === question).map(({ model }) => model);
}

export async function modelCalls(question: string): Promise<number> {
  return (await modelsAsked(question)).length;
}

/** How often the gateway asked on its own account, for a summary of something that holds these words. */
export async function summaryCalls(words: string): Promise<number> {
  const all = (await (await fetch(`${env.LLM_BASE_URL}/requests`)).json()) as Array<
    ModelRequest & { question: string }
  >;
  return all.filter(({ question, messages }) => question === "" && JSON.stringify(messages).includes(words))
    .length;
}

/** The newest request for a question, whole. */
export async function modelRequest(question: string): Promise<ModelRequest | undefined> {
  const all = (await (await fetch(`${env.LLM_BASE_URL}/requests`)).json()) as Array<
    ModelRequest & { question: string }
  >;
  return all.findLast((request) => request.question === question);
}

/** Lets a step of the scripted model go on. */
export async function releaseModel(name: string): Promise<void> {
  await fetch(`${env.LLM_BASE_URL}/release/${name}`, { method: "POST", body: "" });
}
