/** The commands that start a gateway, on this machine or on Cloudflare. npm's package and a checkout have their code; a device does not. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { MODULES } from "@edgecall/node/places.ts";
import type { Command, Work } from "../command.ts";

export const STACK_COMMANDS: readonly Command[] = [
  {
    name: "start",
    about:
      "run the whole home on this machine: gateway, bridge, broker, and this machine as a device; Ctrl-C ends it",
    options: {
      ask: { value: "QUESTION", about: "ask one question, print the answer, and end" },
      demo: { about: "with a simulated house of 35 devices, in a state folder of its own" },
      seed: { value: "N", about: "with --demo: the same N gives the same house; default: 1" },
      speed: { value: "X", about: "with --demo: seconds of the house for each second; default: 1" },
    },
    load: () => workOf("start"),
  },
  {
    name: "deploy",
    about: "put the gateway on Cloudflare; run again, it upgrades and asks nothing",
    options: {
      name: {
        value: "NAME",
        about: "the Worker's name; default: edgecall. Another name is another gateway, with data of its own",
      },
      home: { value: "HOME", about: "the home of the first tokens; default: home" },
      model: { value: "NAME", about: "the model's name; one that begins with @cf/ is Cloudflare's own" },
      "model-url": {
        value: "URL",
        about: "an OpenAI-compatible endpoint, or Anthropic's, up to and with /v1; its key in LLM_API_KEY",
      },
      "model-api": {
        value: "API",
        about: "openai or anthropic, where the address does not tell: the form of its requests",
      },
      account: { value: "ID", about: "where your sign-in has several accounts, or CLOUDFLARE_ACCOUNT_ID" },
      url: { value: "URL", about: "where the gateway is reached, if you gave it a domain of your own" },
      "new-tokens": {
        about: "new tokens in place of the old ones; EDGECALL_TOKEN and BRIDGE_TOKEN: tokens of your own",
      },
      yes: { about: "ask nothing, as without a terminal: sign in by CLOUDFLARE_API_TOKEN" },
      "dry-run": { about: "say what would be done, and build, but change nothing" },
    },
    load: () => workOf("deploy"),
  },
];

/** Imported by address: a device's `edgecall` is one file, which comes without it. */
async function workOf(name: "start" | "deploy"): Promise<Work> {
  const url = MODULES[name];
  if (!existsSync(fileURLToPath(url)))
    throw new Error(
      "this is the program of a device; edgecall's npm package and its repository have this command",
    );
  const module = (await import(url)) as Record<string, Work>;
  return module[name] as Work;
}
