/** LiteLLM's proxy, and the Python beside it, as published on PyPI. */
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { freePort } from "../../local/port.ts";
import { LITELLM } from "../needs.ts";
import { until } from "../wait.ts";
import { plainEnvironment, ROOT } from "./program.ts";

/** It reads half of PyPI before it listens. */
export const LITELLM_STARTS_WITHIN_MS = 240_000;
/** A program of `test/clients` has all questions of its file at once: to load its packages takes longer than to ask. */
export const CLIENT_WITHIN_MS = 120_000;
/** Without it, it asks for prices on the internet. */
const OFFLINE = { LITELLM_LOCAL_MODEL_COST_MAP: "True" };
/** It does not start without one. */
const KEY = "sk-8f2b1c7e5a904d3f8f2b1c7e5a904d3f";

/** Starts it with one model. @param params where that is, as its `litellm_params` */
export async function startLiteLlm(name: string, params: Record<string, string>) {
  const port = await freePort();
  const config = join(mkdtempSync(join(tmpdir(), "edgecall-litellm-")), "config.yaml");
  const models = [{ model_name: name, litellm_params: params }];
  writeFileSync(config, JSON.stringify({ model_list: models, litellm_settings: { num_retries: 0 } }));
  const env = { ...plainEnvironment(), ...OFFLINE, LITELLM_MASTER_KEY: KEY };
  const args = ["--config", config, "--host", "127.0.0.1", "--port", String(port)];
  const proxy = spawn(LITELLM, args, { env, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const listens = () =>
    fetch(`${url}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(listens, { within: LITELLM_STARTS_WITHIN_MS, every: 250, what: "LiteLLM listens" });
  return { url, key: KEY, stop: () => proxy.kill("SIGKILL") };
}

/** @param name a program of `test/clients`, which gets the questions on its input @returns what it prints: what they came to, as JSON */
export async function askClient(name: string, args: readonly string[], questions: object): Promise<unknown> {
  const env = { ...plainEnvironment(), ...OFFLINE };
  const program = [join(ROOT, "test/clients", name), ...args];
  const run = spawn(join(LITELLM, "../python"), program, { env, timeout: CLIENT_WITHIN_MS });
  run.stdin.end(JSON.stringify(questions));
  const [out, errors] = await Promise.all([text(run.stdout), text(run.stderr)]);
  const last = out.trim().split("\n").at(-1);
  if (!last) throw new Error(errors);
  return JSON.parse(last);
}
