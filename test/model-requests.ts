/** For tests inside workerd: what the scripted model was asked, and its holds. */
import { env } from "cloudflare:workers";

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

/** Lets a step of the scripted model go on. */
export async function releaseModel(name: string): Promise<void> {
  await fetch(`${env.LLM_BASE_URL}/release/${name}`, { method: "POST", body: "" });
}
