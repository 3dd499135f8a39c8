/** The steps of `edgecall deploy`. Each can be repeated, so an interrupted deploy continues when it is run again. */
import { COMMAND_LINES } from "@edgecall/node/places.ts";
import { newToken } from "../tokens.ts";
import {
  connectionsKey,
  type GatewayTokens,
  modelSecrets,
  type Secrets,
  tokenSecrets,
} from "./first-secrets.ts";
import { gatewayUp } from "./gateway-up.ts";
import type { DeployOptions, Model } from "./options.ts";
import type { DeployQuestions } from "./questions.ts";
import type { Wrangler } from "./wrangler.ts";

const DEFAULT_NAME = "edgecall";

export type Deployment = {
  options: DeployOptions;
  wrangler: Wrangler;
  questions: DeployQuestions;
  /** Shows progress. */
  say(line: string): void;
  /** Shows the result as soon as it is certain, so that tokens appear before anything else can fail. */
  show(text: string): void;
};

/** @throws errors with texts for people */
export async function deploy({ options, wrangler, questions, say, show }: Deployment): Promise<void> {
  const signedIn = await chooseAccount({ options, wrangler, questions, say });
  let name = options.name ?? DEFAULT_NAME;
  let present = signedIn ? await wrangler.secrets(name) : undefined;
  if (present === undefined && options.name === undefined && !options.quiet && !options.dryRun) {
    name = await questions.name(name);
    if (name !== DEFAULT_NAME) present = await wrangler.secrets(name);
  }
  const isComplete = present?.includes("API_TOKENS") && present.includes("BRIDGE_TOKENS");
  const needsTokens = options.newTokens || !isComplete;
  const isFirst = !isComplete;
  let model: Model | undefined = isFirst ? (options.model ?? options.firstModel) : options.model;
  if (isFirst && !model && !options.quiet && !options.dryRun) model = await questions.model();

  const tokens: GatewayTokens | undefined = needsTokens
    ? {
        api: options.tokens.api ?? newToken(),
        client: newToken(),
        bridge: options.tokens.bridge ?? newToken(),
      }
    : undefined;
  const secrets: Secrets = {
    ...(tokens && tokenSecrets(tokens, options.home)),
    ...(!present?.includes("CONNECTIONS_KEY") && connectionsKey()),
    ...(model && modelSecrets(model, present ?? [])),
  };
  say(planned(name, isFirst, model, secrets));
  if (options.dryRun) {
    await wrangler.deploy(name, { dryRun: true, terminal: false });
    say("Nothing was changed: this was --dry-run.");
    return;
  }
  // The code first, because it refuses everybody until its secrets are set.
  const [target] = await wrangler.deploy(name, { dryRun: false, terminal: !options.quiet });
  const url = (options.url ?? target)?.replace(/\/$/, "");
  if (Object.keys(secrets).length > 0) await wrangler.setSecrets(name, secrets);
  if (tokens) show(tokenText(tokens, options));
  if (url === undefined)
    throw new Error(
      "it is deployed, but wrangler told no address: give it one (workers_dev or routes in wrangler.toml), or name it with --url",
    );
  say(`Waiting until ${url} answers …`);
  await gatewayUp({ url, token: tokens?.api });
  show(isFirst || tokens ? nextSteps(url, tokens, options) : `${url} is up to date.\n`);
}

/** @returns false when nobody is signed in, which --dry-run does not need */
async function chooseAccount({
  options,
  wrangler,
  questions,
  say,
}: Omit<Deployment, "show">): Promise<boolean> {
  let accounts = await wrangler.whoami();
  if (!accounts && options.dryRun) {
    say("Not signed in to Cloudflare: told as for a first deploy, whatever is there.");
    return false;
  }
  if (!accounts && !options.quiet && (await questions.signIn())) {
    await wrangler.login();
    accounts = await wrangler.whoami();
  }
  if (!accounts)
    throw new Error("not signed in to Cloudflare: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN");
  if (options.account !== undefined) {
    wrangler.useAccount(options.account);
    return true;
  }
  const [only, ...more] = accounts;
  if (!only)
    throw new Error("the sign-in has no account; a token needs 'Workers Scripts: Edit' and 'Account: Read'");
  if (more.length > 0 && options.quiet) {
    const names = accounts.map((account) => `${account.id} (${account.name})`).join(", ");
    throw new Error(`several accounts: choose one with --account or CLOUDFLARE_ACCOUNT_ID: ${names}`);
  }
  const account = more.length > 0 ? await questions.account(accounts) : only;
  say(`Account: ${account.name}`);
  wrangler.useAccount(account.id);
  return true;
}

function planned(name: string, isFirst: boolean, model: Model | undefined, secrets: Secrets): string {
  const names = Object.entries(secrets).map(([key, value]) => (value === null ? `${key} (removed)` : key));
  const by =
    model?.via === "endpoint" ? `${model.model} at ${model.baseUrl}` : (model?.model ?? "Workers AI");
  return [
    isFirst ? `First deploy of '${name}'.` : `Upgrade of '${name}': its data, tokens and settings stay.`,
    `Secrets to set: ${names.join(", ") || "none"}.`,
    ...(isFirst || model ? [`Model: ${by}.`] : []),
  ].join("\n");
}

function tokenText(tokens: GatewayTokens, options: DeployOptions): string {
  const made = [
    ...(options.tokens.api === undefined ? [`  your token           ${tokens.api}`] : []),
    ...(options.tokens.api === undefined
      ? [`  one for clients      ${tokens.client}   (asks; can approve nothing)`]
      : []),
    ...(options.tokens.bridge === undefined ? [`  the bridge's token   ${tokens.bridge}`] : []),
  ];
  if (made.length === 0) return "";
  return `Keep these; nobody can show them again (the gateway knows their hashes only):\n\n${made.join("\n")}\n`;
}

function nextSteps(url: string, tokens: GatewayTokens | undefined, options: DeployOptions): string {
  const bridge = options.tokens.bridge === undefined ? tokens?.bridge : "$BRIDGE_TOKEN";
  return `
The console: ${url}/     (sign in with your token)

1. The home's first machine, one that is always on: "Add the home's bridge" on the console's Devices shows a command; run
   it there. (A bridge by hand: GATEWAY_URL=${url} BRIDGE_TOKEN=${bridge} MQTT_URL=mqtt://127.0.0.1:1883 ${COMMAND_LINES.bridge})
2. Each other device: "Add a device", the same way (docs/guides/first-pi.md).
3. Ask:  curl ${url}/ask -H "Authorization: Bearer $TOKEN" -d "Which devices are there?"

Run \`${COMMAND_LINES.deploy}\` again to upgrade.
`;
}
