/** Reads and checks the flags and environment of `edgecall deploy`. Pure. */
import { type Api, readApi } from "@edgecall/core/loop/api.ts";
import { type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";

/** Cloudflare's own, or any OpenAI-compatible endpoint. Keys come from the environment or the keyboard, never from argv. */
export type Model =
  | { via: "workers-ai"; model: string | undefined }
  | { via: "endpoint"; baseUrl: string; api?: Api; model: string; apiKey: string | undefined };

export type DeployOptions = {
  /** The Worker's name; undefined = `edgecall`, or a name that the person chooses when it does not exist. */
  name: string | undefined;
  /** The home of the first tokens. */
  home: string;
  /** The model chosen by flag, or at a first deploy by the environment. */
  model: Model | undefined;
  /** The model chosen by the environment alone, for a first deploy. */
  firstModel: Model | undefined;
  account: string | undefined;
  /** The gateway's address when it differs from wrangler's: a custom domain. */
  url: string | undefined;
  /** The person's own tokens; absent ones are made and shown once. */
  tokens: { api: string | undefined; bridge: string | undefined };
  /** Replaces the existing tokens, for people who lost theirs. */
  newTokens: boolean;
  /** Asks no questions. */
  quiet: boolean;
  dryRun: boolean;
};

/** Options with a value, and those without, as they are typed. */
export const FLAGS = ["name", "home", "model", "model-url", "model-api", "account", "url"] as const;
export const SWITCHES = ["new-tokens", "yes", "dry-run"] as const;
export type DeployFlags = {
  [name in (typeof FLAGS)[number]]?: string | undefined;
} & { [name in (typeof SWITCHES)[number]]?: boolean };

/** The names that Cloudflare accepts for a workers.dev address. */
const WORKER_NAME = /^[a-z0-9]([a-z0-9-]{0,52}[a-z0-9])?$/;
const HOME_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;
const OWN_TOKEN = /^[A-Za-z0-9._~+/=-]{32,256}$/;
/** Placeholders of examples, which must be replaced. */
const PLACEHOLDER =
  /…|\.\.\.|^<.*>$|your[-_ ]|^your|change[-_ ]?me|replace[-_ ]?|placeholder|^todo$|^x+$|example/i;
const LOCAL_HOST =
  /^(localhost|.*\.local|.*\.home\.arpa|127\..*|10\..*|192\.168\..*|172\.(1[6-9]|2\d|3[01])\..*|169\.254\..*|\[.*\])$/;

export function readOptions(
  flags: DeployFlags,
  env: Readonly<Record<string, string | undefined>>,
  hasTerminal: boolean,
): Parsed<DeployOptions> {
  const name = flags.name ?? nonEmpty(env.EDGECALL_NAME);
  const home = flags.home ?? "home";
  const tokens = { api: nonEmpty(env.EDGECALL_TOKEN), bridge: nonEmpty(env.BRIDGE_TOKEN) };
  if (name !== undefined && !isWorkerName(name))
    return wrong(`--name: expected 1 to 54 of a-z, 0-9 and -, got '${name}'`);
  if (!HOME_ID.test(home)) return wrong(`--home: expected 1 to 63 of a-z, 0-9 and -, got '${home}'`);
  for (const [variable, token] of [
    ["EDGECALL_TOKEN", tokens.api],
    ["BRIDGE_TOKEN", tokens.bridge],
  ] as const) {
    if (token === undefined) continue;
    if (!OWN_TOKEN.test(token))
      return wrong(`${variable}: expected 32 to 256 letters, digits or . _ ~ + / = -`);
    if (isPlaceholder(token)) return wrong(`${variable}: a placeholder; leave it out and one is made`);
  }
  if (flags.url !== undefined && !/^https?:\/\/[^/]+\/?$/.test(flags.url))
    return wrong(`--url: expected an address like https://edgecall.example.org, got '${flags.url}'`);
  const apiKey = nonEmpty(env.LLM_API_KEY);
  const baseUrl = flags["model-url"] ?? nonEmpty(env.LLM_BASE_URL);
  const model = readModel(
    flags["model-url"] ?? (flags.model?.startsWith("@") ? undefined : baseUrl),
    flags.model ?? nonEmpty(env.LLM_MODEL),
    apiKey,
    flags["model-api"] ?? nonEmpty(env.LLM_API),
  );
  if (!model.ok) return model;
  const chosen = flags.model !== undefined || flags["model-url"] !== undefined;
  return {
    ok: true,
    value: {
      name,
      home,
      model: chosen ? model.value : undefined,
      firstModel: model.value,
      account: flags.account ?? nonEmpty(env.CLOUDFLARE_ACCOUNT_ID),
      url: flags.url?.replace(/\/$/, ""),
      tokens,
      newTokens: flags["new-tokens"] ?? false,
      quiet: (flags.yes ?? false) || !hasTerminal,
      dryRun: flags["dry-run"] ?? false,
    },
  };
}

/** @returns undefined when no model is named */
export function readModel(
  baseUrl: string | undefined,
  model: string | undefined,
  apiKey: string | undefined,
  apiName?: string,
): Parsed<Model | undefined> {
  if (baseUrl === undefined) {
    if (model === undefined) return { ok: true, value: undefined };
    if (model.startsWith("@")) return { ok: true, value: { via: "workers-ai", model } };
    return wrong(
      `the model '${model}' needs its endpoint: --model-url or LLM_BASE_URL (names of Cloudflare's own begin with @cf/)`,
    );
  }
  if (!/^https?:/.test(baseUrl) || !URL.canParse(baseUrl))
    return wrong(`the model's address: expected https://… up to and with /v1, got '${baseUrl}'`);
  const { hostname } = new URL(baseUrl);
  if (LOCAL_HOST.test(hostname))
    return wrong(`the model's address: '${hostname}' is of your own network, which Cloudflare cannot reach`);
  if (isPlaceholder(baseUrl)) return wrong(`the model's address: '${baseUrl}' is a placeholder`);
  if (model === undefined) return wrong("the model's name is missing: --model or LLM_MODEL");
  if (isPlaceholder(model)) return wrong(`the model's name: '${model}' is a placeholder`);
  if (apiKey !== undefined && (isPlaceholder(apiKey) || /\s/.test(apiKey)))
    return wrong("LLM_API_KEY: a placeholder, or one with a blank in it");
  const api = apiName === undefined ? undefined : readApi(apiName);
  if (apiName !== undefined && !api)
    return wrong(`--model-api or LLM_API: expected openai or anthropic, got '${apiName}'`);
  return { ok: true, value: { via: "endpoint", baseUrl, ...(api && { api }), model, apiKey } };
}

export function isWorkerName(name: string): boolean {
  return WORKER_NAME.test(name);
}

function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}

const nonEmpty = (text: string | undefined) => text?.trim() || undefined;
