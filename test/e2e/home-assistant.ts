/** Home Assistant as published on PyPI, as a child process with a folder and an owner of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { freePort } from "../../local/port.ts";
import { HOME_ASSISTANT } from "../needs.ts";
import { Running } from "../publishers/running.ts";
import { until } from "../wait.ts";
import { ROOT } from "./program.ts";

/** Of a hook that starts one. On a busy machine its first start takes half a minute. */
export const HOME_ASSISTANT_START_MS = 150_000;
const ALWAYS = ["auth", "api", "config", "onboarding", "websocket_api", "conversation", "stt"];
const FLOWS = "/api/config/config_entries/flow";

type Json = Record<string, unknown>;
type Flow<T> = T & { flow_id: string };
type Entry = { type: string; result: { entry_id: string; title: string } };
type Processed = {
  conversation_id: string;
  response: { response_type: string; speech: { plain: { speech: string } } };
};
type ToolResult = { isError: boolean; content: Array<{ text: string }> };
type Intent = { response_type: string; data: { success: Array<{ name: string }> } };
type State = { entity_id: string; state: string; attributes: { friendly_name?: string } };

export class HomeAssistant {
  readonly url: string;
  readonly #running: Running;
  #token: string | undefined;

  private constructor(running: Running, url: string) {
    this.#running = running;
    this.url = url;
  }

  /** @param integrations those that it loads beside what it needs to be set up */
  static async start(integrations: readonly string[]): Promise<HomeAssistant> {
    const port = await freePort();
    const running = new Running("home-assistant", (folder) => {
      const http = `http:\n  server_host: 127.0.0.1\n  server_port: ${port}\n`;
      const named = [...ALWAYS, ...integrations].map((name) => `${name}:\n`).join("");
      writeFileSync(join(folder, "configuration.yaml"), `homeassistant:\n  name: test\n${http}${named}`);
      const launcher = join(ROOT, "test/clients/home_assistant.py");
      return { command: [HOME_ASSISTANT, launcher, "-c", folder, "--skip-pip", "--log-no-color"] };
    });
    const home = new HomeAssistant(running, `http://127.0.0.1:${port}`);
    await running.ready(() =>
      fetch(`${home.url}/api/onboarding`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    try {
      await home.#signIn();
    } catch (error) {
      await home.stop();
      throw error;
    }
    return home;
  }

  /** The owner's access token, which holds for half an hour. */
  get token(): string {
    if (this.#token === undefined) throw new Error("nobody has signed in to Home Assistant");
    return this.#token;
  }

  /** As its page asks. @throws with the status and Home Assistant's last lines */
  async request<T = Json>(path: string, body?: Json | URLSearchParams): Promise<T> {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(`${this.url}${path}`, {
      method: body ? "POST" : "GET",
      headers: {
        // By it Home Assistant knows its own address.
        "ha-frontend-base": this.url,
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(body && !isForm && { "content-type": "application/json" }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    throw new Error(`${path}: ${response.status} ${text}\n${this.#running.lines.slice(-20).join("\n")}`);
  }

  /** One command over its WebSocket. */
  async command<T>(command: Json & { type: string }): Promise<T> {
    const socket = new WebSocket(`${this.url.replace("http", "ws")}/api/websocket`);
    try {
      return await new Promise((resolve, reject) => {
        socket.onerror = () => reject(new Error("Home Assistant's WebSocket failed"));
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(String(data)) as { type: string; success?: boolean; result: T };
          if (message.type === "auth_required")
            socket.send(JSON.stringify({ type: "auth", access_token: this.token }));
          if (message.type === "auth_ok") socket.send(JSON.stringify({ id: 1, ...command }));
          if (message.type === "auth_invalid" || message.success === false) reject(new Error(String(data)));
          if (message.type === "result" && message.success) resolve(message.result);
        };
      });
    } finally {
      socket.close();
    }
  }

  /** Begins to set an integration up. */
  async flow<T = Json>(handler: string, input: Json): Promise<Flow<T>> {
    const { flow_id } = await this.request<Flow<Json>>(FLOWS, { handler });
    return await this.step(flow_id, input);
  }

  step<T = Json>(flow: string, input: Json): Promise<Flow<T>> {
    return this.request(`${FLOWS}/${flow}`, input);
  }

  /**
   * Adds a conversation agent by its integration "LiteLLM".
   * @param connection `url` and `api_key` of the endpoint @param options of the agent
   * @returns its entity's id
   */
  async addConversation(connection: Json, options: Json & { model: string }): Promise<string> {
    const before = await this.#conversations();
    const made = await this.#add("litellm", connection);
    const adding = "/api/config/config_entries/subentries/flow";
    const form = await this.request<Flow<{ data_schema: Json[] }>>(adding, {
      handler: [made.result.entry_id, "conversation"],
    });
    // It has asked the endpoint for its models.
    expect(JSON.stringify(form.data_schema)).toContain(`"${options.model}"`);
    expect(await this.request(`${adding}/${form.flow_id}`, options)).toMatchObject({ type: "create_entry" });
    return await until(async () => (await this.#conversations()).find((one) => !before.includes(one)), {
      within: 20_000,
      what: "the conversation agent is there",
    });
  }

  /** Says something to a conversation agent. */
  async say(agent_id: string, text: string, conversation_id?: string) {
    const body = { text, agent_id, language: "en", ...(conversation_id && { conversation_id }) };
    const { response, conversation_id: id } = await this.request<Processed>(
      "/api/conversation/process",
      body,
    );
    return { id, type: response.response_type, speech: response.speech.plain.speech };
  }

  /** Adds the broker's devices. Resolves when it has those with these names. */
  async useBroker(port: number, names: readonly string[]): Promise<void> {
    const other_settings = { set_client_cert: false, set_ca_cert: "off", transport: "tcp" };
    await this.#add("mqtt", { broker: "127.0.0.1", port, protocol: "5", other_settings });
    const hasAll = async () => {
      const known = new Set((await this.#states()).map(({ attributes }) => attributes.friendly_name));
      return names.every((name) => known.has(name));
    };
    await until(hasAll, { within: 60_000, every: 200, what: "Home Assistant has the broker's devices" });
  }

  /** Serves its tools for models to MCP clients, below `/api/mcp`. */
  async serveMcp(): Promise<void> {
    await this.#add("mcp_server", {});
  }

  /**
   * Calls a tool of its MCP server.
   * @returns true if it says that it was done
   */
  async turn(on: boolean, name: string): Promise<boolean> {
    const params = { name: `intent__HassTurn${on ? "On" : "Off"}`, arguments: { name } };
    const response = await fetch(`${this.url}/api/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.token}`,
        "content-type": "application/json",
        accept: "application/json",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const { result } = (await response.json()) as { result: ToolResult };
    if (result.isError) return false;
    const said = JSON.parse(result.content[0]?.text ?? "{}") as Intent;
    return said.response_type === "action_done" && said.data.success.some((one) => one.name === name);
  }

  async stop(): Promise<void> {
    await this.#running.stop();
  }

  async #add(handler: string, settings: Json): Promise<Entry> {
    const entry = await this.flow<Entry>(handler, settings);
    if (entry.type !== "create_entry")
      throw new Error(`Home Assistant does not set up ${handler}: ${entry.type}`);
    return entry;
  }

  #states(): Promise<State[]> {
    return this.request("/api/states");
  }

  async #conversations(): Promise<string[]> {
    return (await this.#states())
      .map(({ entity_id: id }) => id)
      .filter((id) => id.startsWith("conversation."));
  }

  async #signIn(): Promise<void> {
    const client_id = `${this.url}/`;
    const owner = { name: "a", username: "a", password: "long enough", client_id, language: "en" };
    const { auth_code: code } = await this.request<{ auth_code: string }>("/api/onboarding/users", owner);
    const grant = new URLSearchParams({ client_id, grant_type: "authorization_code", code });
    this.#token = (await this.request<{ access_token: string }>("/auth/token", grant)).access_token;
  }
}
