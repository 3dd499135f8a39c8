/** `edgecall …`: what a person does with a home, from anywhere; all of it over the gateway's HTTP routes. */
import type { Command } from "../command.ts";

const JSON_OPTION = { about: "for programs" };

export const GATEWAY_COMMANDS: readonly Command[] = [
  {
    name: "ask",
    about: "ask the home something; the answer comes as it is made. Exit code 0 only when it is done",
    takes: "QUESTION…",
    options: {
      conversation: {
        value: "ID",
        short: "c",
        about: "go on with this conversation; a new one unless given",
      },
      model: { value: "NAME", about: "one of the gateway's models" },
      "no-wait": { about: "end it when a person is asked and there is no terminal to ask in; exit code 1" },
      verbose: { short: "v", about: "a line for each call, without a terminal too" },
      json: { about: "the turn as one JSON object, at its end" },
    },
    load: async () => (await import("./ask.ts")).ask,
  },
  {
    name: "status",
    about: "gateway, bridge, agents, calls in flight; exit code 0 when the home can be asked",
    options: { tools: { about: "each agent's tools, and its calls so far" }, json: JSON_OPTION },
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "metrics",
    about: "requests, iterations, times, errors, recovery; with --tools each tool",
    options: {
      tools: { about: "calls, errors, time-outs, latency and the last error of each tool" },
      since: { value: "TIME", about: "with --tools: 15m, 24h, 7d or an instant; 24h unless given" },
      agent: { value: "ID", about: "with --tools: this agent's alone" },
      json: JSON_OPTION,
    },
    load: async () => (await import("./metrics.ts")).metrics,
  },
  {
    name: "logs",
    about:
      "the record of calls, which devices bring every five minutes: who had what run, and what it came to",
    options: {
      filter: { value: "KIND", about: "tool: calls of tools, which is all that there is" },
      agent: { value: "ID", about: "this agent's alone" },
      tool: { value: "NAME", about: "this tool's alone" },
      result: { value: "RESULT", about: "success or error" },
      since: { value: "TIME", about: "15m, 24h, 7d or an instant" },
      lines: { value: "N", short: "n", about: "so many, at most 1000; 50 unless given" },
      follow: { short: "f", about: "go on with those that come" },
      json: { about: "one JSON object a line" },
    },
    load: async () => (await import("./logs.ts")).logs,
  },
  {
    name: "agents",
    about: "the home's agents; with a name that agent and its actions",
    takes: "[AGENT]",
    options: { json: JSON_OPTION },
    load: async () => (await import("./agents.ts")).agents,
  },
  {
    name: "pair",
    about: "a code that lets one device join, and the command for it",
    options: {
      agent: { value: "ID", about: "for this one alone; its key may be replaced" },
      "with-bridge": { about: "for the home's first machine: it becomes the bridge, too" },
      broker: { value: "URL", about: "what the device is told of its broker" },
      wait: { about: "until the device is online" },
      json: JSON_OPTION,
    },
    load: async () => (await import("./pair.ts")).pair,
  },
  {
    name: "update",
    about:
      "have an agent, or the bridge, update itself to the gateway's version; without a name: who has which",
    takes: "[AGENT|bridge]",
    options: { json: JSON_OPTION },
    load: async () => (await import("./update.ts")).update,
  },
  {
    name: "tokens list",
    about: "who and what may use the home: each token's name, role, scopes, expiry and last use",
    options: { json: JSON_OPTION },
    load: async () => (await import("./tokens.ts")).listTokens,
  },
  {
    name: "tokens add",
    about: "a token for a person or a program, shown once; never with more than yours has",
    takes: "NAME",
    options: {
      role: { value: "ROLE", about: "owner, member or guest; member unless given" },
      scopes: { value: "LIST", about: "of ask,command,approve,admin,metrics; ask unless given" },
      expires: { value: "DAYS", about: "30d: it ends by itself; never unless given" },
      json: JSON_OPTION,
    },
    load: async () => (await import("./tokens.ts")).addToken,
  },
  {
    name: "tokens revoke",
    about: "a token opens nothing any more, from the next request on",
    takes: "ID|NAME",
    options: { made: { about: "the tokens that it made too" } },
    load: async () => (await import("./tokens.ts")).revokeToken,
  },
  {
    name: "doctor",
    about: "token → gateway → bridge → broker → agent → model: what is broken, and what to do",
    takes: "[AGENT]",
    options: { "no-model": { about: "do not ask the model, which costs a few tokens" }, json: JSON_OPTION },
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "login",
    about: "keep a gateway's address and a token; the token is asked for, or read from stdin",
    takes: "URL",
    options: { forget: { about: "take both away again" } },
    load: async () => (await import("./login.ts")).login,
  },
];
