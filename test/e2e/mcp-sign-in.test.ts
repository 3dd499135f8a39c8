/** The SDK's own MCP client signs in to a real gateway and calls a device; nobody pastes a token. */
import {
  Client,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import type { OauthGrantView } from "../../worker/kernel/api/answers.ts";
import { SignIn } from "../oauth-sign-in.ts";
import { TOKENS } from "../tokens.ts";
import { useStack } from "./stack.ts";

const stack = useStack({}, async (stack) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env, top: { tools: { enabled: ["append", "temperature"] } } });
  await stack.gateway.online("pi");
});

const REDIRECT = "http://127.0.0.1:33418/callback";

type Registered = Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;

/** Keeps what the client learns, as a program does on its disk. */
class Provider implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: "JS client",
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  #client: Registered;
  #verifier = "";
  kept: OAuthTokens | undefined;
  readonly sentTo: URL[] = [];

  clientInformation() {
    return this.#client;
  }

  saveClientInformation(client: NonNullable<Registered>) {
    this.#client = client;
  }

  tokens() {
    return this.kept;
  }

  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens;
  }

  invalidateCredentials(what: string) {
    if (what === "all" || what === "tokens") this.kept = undefined;
    if (what === "all" || what === "client") this.#client = undefined;
  }

  redirectToAuthorization(url: URL) {
    this.sentTo.push(url);
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }

  codeVerifier() {
    return this.#verifier;
  }
}

const browser = () =>
  new SignIn((path, init) => fetch(stack.gateway.url + path, init), new URL(stack.gateway.url).origin);

/** The person opens the address, and presses Allow with these ticks. */
async function allow(url: URL, ticks: Record<string, string>): Promise<URLSearchParams> {
  const person = browser();
  const cookie = await person.cookie(TOKENS.owner);
  const { form } = await person.open(url.pathname + url.search, cookie);
  const { location } = await person.press(form, cookie, ticks);
  return location?.searchParams ?? new URLSearchParams();
}

const transportOf = (authProvider: Provider, path = "/mcp") =>
  new StreamableHTTPClientTransport(new URL(stack.gateway.url + path), { authProvider });
const text = (result: object) => (result as { content: { text: string }[] }).content[0]?.text ?? "";

async function connected(
  mode: "auto" | "legacy",
  provider: Provider,
  ticks: Record<string, string>,
  path = "/mcp",
) {
  const options = { versionNegotiation: { mode }, capabilities: {} };
  const transport = transportOf(provider, path);
  const first = new Client({ name: "test", version: "1" }, options);
  await expect(first.connect(transport)).rejects.toBeInstanceOf(UnauthorizedError);
  await transport.finishAuth(await allow(provider.sentTo[0] ?? new URL("about:blank"), ticks));
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(transportOf(provider, path));
  return client;
}

test.each(["auto", "legacy"] as const)(
  "signs in, calls a device, refreshes, and is disconnected (%s)",
  async (mode) => {
    const provider = new Provider();
    const client = await connected(mode, provider, { command: "yes", trusted: "yes" });
    expect(provider.kept).toMatchObject({ scope: "ask command", refresh_token: expect.any(String) });
    expect(text(await client.callTool({ name: "pi__temperature", arguments: {} }))).toContain("°C");

    // Its access token has ended: it refreshes by itself, and asks nobody.
    provider.kept = { ...(provider.kept as OAuthTokens), access_token: "oat1.ended.token-of-an-hour-ago" };
    expect(text(await client.callTool({ name: "pi__temperature", arguments: {} }))).toContain("°C");
    expect(provider.sentTo).toHaveLength(1);

    const { grants } = (await (await stack.gateway.fetch("/v1/oauth/grants")).json()) as {
      grants: OauthGrantView[];
    };
    const grant = grants.find(({ state }) => state === "connected");
    expect(grant).toMatchObject({ client: "JS client", person: "anna", trusted: true });
    await stack.gateway.fetch(`/v1/oauth/grants/${grant?.id}`, { method: "DELETE" });
    await expect(client.callTool({ name: "pi__temperature", arguments: {} })).rejects.toBeInstanceOf(
      UnauthorizedError,
    );
    expect(provider.sentTo).toHaveLength(2);
    await client.close();
  },
);

test("connects also to an address with a slash at its end", async () => {
  const client = await connected("auto", new Provider(), { command: "yes" }, "/mcp/");
  expect(text(await client.callTool({ name: "pi__temperature", arguments: {} }))).toContain("°C");
  await client.close();
});

test("a call that waits for approval shows its person the gateway's page, and then has the result", async () => {
  const provider = new Provider();
  const options = {
    versionNegotiation: { mode: "auto" as const },
    capabilities: { elicitation: { url: {} } },
  };
  const transport = transportOf(provider);
  const first = new Client({ name: "test", version: "1" }, options);
  await expect(first.connect(transport)).rejects.toBeInstanceOf(UnauthorizedError);
  await transport.finishAuth(await allow(provider.sentTo[0] ?? new URL("about:blank"), { command: "yes" }));
  const client = new Client({ name: "test", version: "1" }, options);
  const shown: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    const { url = "" } = params as { url?: string };
    shown.push(url);
    // The person answers a moment later, with their own session.
    const id = url.split("/").at(-1);
    setTimeout(() => {
      const body = JSON.stringify({ answer: "approve" });
      void stack.gateway.fetch(`/v1/questions/${id}`, { method: "POST", body });
    }, 300);
    return { action: "accept" };
  });
  await client.connect(transportOf(provider));
  const result = await client.callTool({ name: "pi__append", arguments: { text: "one" } });
  expect(shown).toEqual([expect.stringMatching(/\/#\/waiting\/[0-9a-f-]{36}$/)]);
  expect((result as { isError?: boolean }).isError).not.toBe(true);
  expect(text(result)).not.toContain("Nothing has run");
  await client.close();
});
