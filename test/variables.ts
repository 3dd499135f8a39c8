/** For tests in workerd: other values of variables, for one test. */
import { env } from "cloudflare:workers";
import { onTestFinished } from "vitest";
import { readAgain } from "../worker/kernel/settings/read-once.ts";

/** Values that were there come back when the test ends. */
export function setVariables(values: Readonly<Record<string, unknown>>): void {
  const variables = env as unknown as Record<string, unknown>;
  const before = Object.fromEntries(Object.keys(values).map((name) => [name, variables[name]]));
  Object.assign(variables, values);
  readAgain();
  onTestFinished(() => {
    Object.assign(variables, before);
    readAgain();
  });
}
