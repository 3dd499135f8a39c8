/** The commands for a home, which work from anywhere over the gateway's HTTP routes. */
import type { Command } from "../command.ts";

const JSON_OPTION = { about: "for programs" };

export const GATEWAY_COMMANDS: readonly Command[] = [
  {
    name: "ask",
    about: "ask the home something, and show the answer as it comes. Exit code 0 only when it is done",
    takes: "QUESTION…",
    options: {
      conversation: {
        value: "ID",
        short: "c",
        about: "go on with this conversation; default: a new one",
      },
      model: { value: "NAME", about: "one of the gateway's models" },
      "no-wait": { about: "give up with exit code 1 when a person is asked and there is no terminal" },
      verbose: { short: "v", about: "show a line for each call, even without a terminal" },
      json: { about: "print the turn as one JSON object, at its end" },
    },
    load: async () => (await import("./ask.ts")).ask,
  },
  {
    name: "waiting",
    about: "show what waits for a person; on a terminal each question is put to you",
    options: { json: JSON_OPTION },
    load: async () => (await import("./waiting.ts")).waiting,
  },
  {
    name: "status",
    about: "show gateway, bridge, agents and calls in flight; exit code 0 when the home can be asked",
    options: { tools: { about: "show each agent's tools, and its calls so far" }, json: JSON_OPTION },
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "metrics",
    about: "show requests, iterations, times, errors, recovery; with --tools each tool",
    options: {
      tools: { about: "show calls, errors, time-outs, latency and the last error of each tool" },
      since: { value: "TIME", about: "with --tools: 15m, 24h, 7d or an instant; default: 24h" },
      agent: { value: "ID", about: "with --tools: only this agent" },
      json: JSON_OPTION,
    },
    load: async () => (await import("./metrics.ts")).metrics,
  },
  {
    name: "logs",
    about: "show the record of calls: who called what, and the result. Devices send it every five minutes",
    options: {
      filter: { value: "KIND", about: "tool: calls of tools, the only kind" },
      agent: { value: "ID", about: "only this agent" },
      tool: { value: "NAME", about: "only this tool" },
      result: { value: "RESULT", about: "success or error" },
      since: { value: "TIME", about: "15m, 24h, 7d or an instant" },
      lines: { value: "N", short: "n", about: "the number of lines, at most 1000; default: 50" },
      follow: { short: "f", about: "show new lines as they come" },
      json: { about: "one JSON object a line" },
    },
    load: async () => (await import("./logs.ts")).logs,
  },
  {
    name: "agents",
    about: "list the home's agents; with a name, show that agent and its actions",
    takes: "[AGENT]",
    options: {
      search: { value: "WORDS", short: "s", about: "only agents that these words fit" },
      online: { about: "only agents that are online" },
      limit: { value: "N", short: "n", about: "the number of agents; default: 200, with --json all" },
      all: { about: "list all, however many" },
      json: JSON_OPTION,
    },
    load: async () => (await import("./agents.ts")).agents,
  },
  {
    name: "readmit",
    about: "let a device in again whose clock was ahead once, and that lost its counter.json",
    takes: "AGENT",
    options: {},
    load: async () => (await import("./readmit.ts")).readmit,
  },
  {
    name: "pair",
    about: "make a code for one device, and print the command to run there",
    options: {
      agent: { value: "ID", about: "only for this agent, whose key may be replaced" },
      "with-bridge": { about: "for the home's first machine, which becomes the bridge too" },
      broker: { value: "URL", about: "the broker's address for the device" },
      wait: { about: "wait until the device is online" },
      json: JSON_OPTION,
    },
    load: async () => (await import("./pair.ts")).pair,
  },
  {
    name: "update",
    about: "update an agent or the bridge to the gateway's version; without a name: list the versions",
    takes: "[AGENT|bridge]",
    options: { json: JSON_OPTION },
    load: async () => (await import("./update.ts")).update,
  },
  {
    name: "passkey",
    about: "make a code by which you add or remove a passkey in the console (Setup, Passkeys)",
    options: { json: JSON_OPTION },
    load: async () => (await import("./passkey.ts")).passkey,
  },
  {
    name: "tokens list",
    about: "list the tokens, with name, role, scopes, expiry and last use",
    options: { json: JSON_OPTION },
    load: async () => (await import("./tokens.ts")).listTokens,
  },
  {
    name: "tokens add",
    about: "make a token for a person or a program, shown once; never with more rights than yours",
    takes: "NAME",
    options: {
      role: { value: "ROLE", about: "owner, member or guest; default: member" },
      scopes: { value: "LIST", about: "of ask,command,approve,admin,metrics; default: ask" },
      expires: { value: "DAYS", about: "for instance 30d; default: never" },
      json: JSON_OPTION,
    },
    load: async () => (await import("./tokens.ts")).addToken,
  },
  {
    name: "tokens revoke",
    about: "make a token invalid, from the next request on",
    takes: "ID|NAME",
    options: { made: { about: "also the tokens that it made" } },
    load: async () => (await import("./tokens.ts")).revokeToken,
  },
  {
    name: "tokens rotate",
    about: "replace the owner's own token of a gateway at home; the old one opens nothing from then on",
    options: { json: JSON_OPTION },
    load: async () => (await import("./tokens.ts")).rotateToken,
  },
  {
    name: "permissions list",
    about: "list what devices may be told without a question, with values, uses and end",
    options: { ended: { about: "also those that ended, with the reason" }, json: JSON_OPTION },
    load: async () => (await import("./permissions.ts")).listPermissions,
  },
  {
    name: "permissions end",
    about: "end a permission, or all of a device or a person: its changes ask again",
    takes: "[ID]",
    options: {
      device: { value: "AGENT", about: "all of this device" },
      person: { value: "NAME", about: "all that this person gave or has" },
    },
    load: async () => (await import("./permissions.ts")).endPermissions,
  },
  {
    name: "doctor",
    about: "check token → gateway → bridge → broker → agent → model: what is broken, and what to do",
    takes: "[AGENT]",
    options: { "no-model": { about: "do not ask the model, which costs a few tokens" }, json: JSON_OPTION },
    load: async () => (await import("./doctor.ts")).doctor,
  },
  {
    name: "login",
    about: "store a gateway's address and a token, which is asked for, or read from stdin",
    takes: "URL",
    options: { forget: { about: "delete both" } },
    load: async () => (await import("./login.ts")).login,
  },
];
