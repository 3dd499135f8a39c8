/**
 * Asks a local model server for the window of the model as it is loaded. `/v1/chat/completions` does not tell it, and Ollama cuts
 * a longer prompt without a word.
 */
import { isObject } from "../protocol/is-object.ts";
import { isPrivateHost } from "../web/address.ts";
import { askServer, listIn } from "./local-server.ts";
import type { Fetch } from "./model.ts";
import type { ModelSettings } from "./request.ts";

export type LocalServer = "Ollama" | "llama.cpp" | "LM Studio" | "vLLM";

/** @property tokens absent: the model is not loaded, or the server is too old to tell it */
export type Window = { server: LocalServer; tokens?: number };

type Endpoint = Pick<ModelSettings, "baseUrl" | "apiKey" | "model">;

/** All requests go out at once. A local server answers within milliseconds, also while a model is busy. */
const ASK_MS = 1_500;

/** The newest address and its answer: each request to a model asks, and addresses take long to read. */
let newest = { baseUrl: "", isLocal: false };

/** Tells whether the server is on this machine or in its network. The gateway's relay is not: its model runs elsewhere. */
export function isLocalModel({ baseUrl }: Pick<ModelSettings, "baseUrl">): boolean {
  if (newest.baseUrl !== baseUrl) newest = { baseUrl, isLocal: isLocalAddress(baseUrl) };
  return newest.isLocal;
}

function isLocalAddress(baseUrl: string): boolean {
  if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl)) return false;
  const { hostname, pathname } = new URL(baseUrl);
  return isPrivateHost(hostname) && !pathname.includes("/v1/relay/");
}

/**
 * @param endpoint a local one (`isLocalModel`); its key goes to no other origin, since redirects are not followed
 * @returns undefined: no server answered in a known form; never throws
 */
export async function askWindow(
  endpoint: Endpoint,
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
): Promise<Window | undefined> {
  const { model, apiKey } = endpoint;
  const key = typeof apiKey === "function" ? apiKey() : apiKey;
  const base = endpoint.baseUrl.replace(/\/+$/, "");
  const root = base.replace(/\/(?:api\/)?v\d+$/, "");
  const ask = (url: string) => askServer(url, { key, ms: ASK_MS, fetch });
  const [running, props, studio, studioV1, list] = await Promise.all([
    ask(`${root}/api/ps`),
    // A server of several models loads none for this question.
    ask(`${root}/props?model=${encodeURIComponent(model)}&autoload=false`),
    ask(`${root}/api/v0/models`),
    ask(`${root}/api/v1/models`),
    ask(`${base}/models`),
  ]);
  return (
    ollama(running, model) ??
    llamaCpp(props) ??
    lmStudio(studio, model) ??
    lmStudioV1(studioV1, model) ??
    vllm(list, model)
  );
}

/** `/api/ps` lists what is loaded. `/api/show` tells the model's ceiling, which is not what it runs with. */
function ollama(answer: unknown, model: string): Window | undefined {
  const models = listIn(answer, "models");
  // LM Studio's newer list has the same name; its entries have a key.
  if (!models || models.some((one) => one.key !== undefined)) return undefined;
  const names = [model, `${model}:latest`];
  const loaded = models.find((one) => names.includes(String(one.model)) || names.includes(String(one.name)));
  return { server: "Ollama", ...tokensIn(loaded?.context_length) };
}

/** `n_ctx` is of one slot, as a request gets it. */
function llamaCpp(answer: unknown): Window | undefined {
  const settings = isObject(answer) ? answer.default_generation_settings : undefined;
  if (!isObject(settings) || settings.n_ctx === undefined) return undefined;
  return { server: "llama.cpp", ...tokensIn(settings.n_ctx) };
}

function lmStudio(answer: unknown, model: string): Window | undefined {
  const models = listIn(answer, "data")?.filter((one) => one.max_context_length !== undefined);
  if (!models?.length) return undefined;
  const loaded = models.filter((one) => one.loaded_context_length !== undefined);
  return { server: "LM Studio", ...tokensIn(oneOf(loaded, "id", model)?.loaded_context_length) };
}

function lmStudioV1(answer: unknown, model: string): Window | undefined {
  const models = listIn(answer, "models")?.filter((one) => one.loaded_instances !== undefined);
  if (!models?.length) return undefined;
  const loaded = models.flatMap((one) =>
    (listIn(one, "loaded_instances") ?? []).map(({ id, config }) => ({ key: one.key, id, config })),
  );
  const instance = loaded.find(({ id }) => id === model) ?? oneOf(loaded, "key", model);
  const config = instance?.config;
  return { server: "LM Studio", ...tokensIn(isObject(config) ? config.context_length : undefined) };
}

/** SGLang tells it in the same form. */
function vllm(answer: unknown, model: string): Window | undefined {
  const models = listIn(answer, "data")?.filter((one) => one.max_model_len !== undefined) ?? [];
  const tokens = tokensIn(oneOf(models, "id", model)?.max_model_len);
  return tokens.tokens === undefined ? undefined : { server: "vLLM", ...tokens };
}

/** A server of a single model answers for any name. */
function oneOf<T extends Record<string, unknown>>(models: readonly T[], key: string, model: string) {
  return models.find((one) => one[key] === model) ?? (models.length === 1 ? models[0] : undefined);
}

function tokensIn(value: unknown): { tokens?: number } {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? { tokens: value } : {};
}
