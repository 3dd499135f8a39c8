/** The variables of the gateway's own tools. */
import { VARIABLES, type Variables } from "@edgecall/core/protocol/gateway-variables.ts";
import { type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { BRAVE_BASE_URL } from "@edgecall/core/web/brave.ts";
import { CONTEXT7_BASE_URL } from "@edgecall/core/web/context7.ts";

/** A tool that is absent is switched off. */
export type GatewayToolSettings = {
  /** The six session tools and `agents_list`, here and on devices. */
  sessions: boolean;
  /** `watch`, `remind`, `rules` and `ack`. */
  rules: boolean;
  /** `past`, where the bridge keeps values. */
  history: boolean;
  webfetch: boolean;
  websearch?: { keys: string[]; baseUrl: string };
  codesearch?: { key?: string; baseUrl: string };
};

const NAMES = ["sessions", "rules", "history", "webfetch", "websearch", "codesearch"] as const;
type Name = (typeof NAMES)[number];
/** The default, without the variable. */
const DEFAULT: readonly string[] = listOf(VARIABLES.GATEWAY_TOOLS.default);
/** Home runs them. */
const OF_HOME: readonly Name[] = ["sessions", "rules", "history"];

/** An error names the variable and the right form, and never quotes a key. */
export function readGatewayTools(env: Variables): Parsed<GatewayToolSettings> {
  const listed = listOf(env.GATEWAY_TOOLS);
  const named = listed.length === 0 ? DEFAULT : listed.length === 1 && listed[0] === "none" ? [] : listed;
  const unknown = named.find((name) => !NAMES.some((one) => one === name));
  if (unknown !== undefined)
    return wrong(`GATEWAY_TOOLS: expected names of ${NAMES.join(", ")}, or 'none', got '${unknown}'`);
  const has = (name: Name) => named.includes(name);
  const settings: GatewayToolSettings = {
    sessions: has("sessions"),
    rules: has("rules"),
    history: has("history"),
    webfetch: has("webfetch"),
  };
  if (has("websearch")) {
    const keys = listOf(env.BRAVE_API_KEY);
    if (keys.length === 0)
      return wrong(
        "BRAVE_API_KEY: not set, but GATEWAY_TOOLS has websearch, which needs a key of Brave's search",
      );
    if (!keys.every(fitsHeader)) return wrong(`BRAVE_API_KEY: ${UNFIT}`);
    const baseUrl = addressOf(env.BRAVE_BASE_URL, BRAVE_BASE_URL);
    if (baseUrl === undefined)
      return wrong(`BRAVE_BASE_URL: expected an http(s) address like ${BRAVE_BASE_URL}`);
    settings.websearch = { keys, baseUrl };
  }
  if (has("codesearch")) {
    const key = env.CODESEARCH_API_KEY?.trim();
    if (key && !fitsHeader(key)) return wrong(`CODESEARCH_API_KEY: ${UNFIT}`);
    const baseUrl = addressOf(env.CODESEARCH_BASE_URL, CONTEXT7_BASE_URL);
    if (baseUrl === undefined)
      return wrong(`CODESEARCH_BASE_URL: expected an http(s) address like ${CONTEXT7_BASE_URL}`);
    settings.codesearch = { baseUrl, ...(key && { key }) };
  }
  return { ok: true, value: settings };
}

/** @returns the names of the tools of the web that are switched on */
export function toolNames(settings: GatewayToolSettings): string[] {
  return NAMES.filter((name) => !OF_HOME.includes(name) && settings[name]);
}

/** @returns the keys, which no result may contain */
export function keysOf({ websearch, codesearch }: GatewayToolSettings): string[] {
  return [...(websearch?.keys ?? []), ...(codesearch?.key ? [codesearch.key] : [])];
}

const UNFIT = "holds a blank or a character that no header can carry";

function listOf(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,]+/).filter((part) => part !== "");
}

function fitsHeader(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key);
}

function addressOf(text: string | undefined, fallback: string): string | undefined {
  const address = text?.trim() || fallback;
  return /^https?:\/\//.test(address) && URL.canParse(address) ? address : undefined;
}
