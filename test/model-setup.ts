/** The scripted model for tests that run inside workerd, where no server can listen. */
import type { TestProject } from "vitest/node";
import { startScriptedModel } from "./scripted-model.ts";

declare module "vitest" {
  interface ProvidedContext {
    modelUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const model = await startScriptedModel();
  project.provide("modelUrl", model.url);
  return () => model.close();
}
