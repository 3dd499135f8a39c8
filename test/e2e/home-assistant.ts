/** Home Assistant as published on PyPI, as a child process with a folder and an owner of its own. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../local/port.ts";
import { HOME_ASSISTANT } from "../needs.ts";
import { Running } from "../publishers/running.ts";
import { until } from "../wait.ts";
import { ROOT } from "./program.ts";

const ALWAYS = ["auth", "api", "config", "onboarding", "websocket_api", "conversation"];
const ENTRIES = "/api/config/config_entries";
const FLOWS = `${ENTRIES}/flow`;

type Json = Record<string, unknown>;
type ToolResult = { isError: boolean; content: Array<{ text: string }> };
type Intent = { response_type: string; data: { success: Array<{ name: string }> } };
type State = { entity_id: string; state: string; attributes: { friendly_name?: string } };
/** `unique_id` is the one of its integration. */
type Registered = { entity_id: string; unique_id: string };
/** The answer to a form of a set-up. */
export type Flow = { flow_id: string; type: string };
/** The last form's answer: the integration is set up. */
export type Entry = Flow & { result: { entry_id: string; title: string } };
type Processed = {
  conversation_id: string;
  response: { response_type: string; speech: { plain: { speech: string } } };
};

/** Of all its users. */
export const PASSWORD = "long enough";
/** It writes its registries last. */
const STOPS_WITHIN_MS = 60_000;

type Result<T> = { type: string; success?: boolean; result: T };

export class HomeAssistant {
  readonly url: string;
  readonly #running: Running;
  #token: string | undefined;

  private constructor(running: Running, url: string) {
    this.#running = running;
    this.url = url;
  }

  /**
   * @param integrations those that it loads beside what it needs to be set up
   * @param yaml more of its configuration
   */
  static async start(integrations: readonly string[], yaml = ""): Promise<HomeAssistant> {
    const port = await freePort();
    const running = new Running("home-assistant", (folder) => {
      writeAddress(folder, port);
      cpSync(join(ROOT, "test/home-assistant-lab"), join(folder, "custom_components/lab"), {
        recursive: true,
      });
      const named = [...ALWAYS, ...integrations].map((name) => `${name}:\n`).join("");
      writeFileSync(join(folder, "configuration.yaml"), `homeassistant:\n  name: test\n${named}${yaml}`);
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

  /** Of its WebSocket. */
  get socketUrl(): string {
    return `${this.url.replace("http", "ws")}/api/websocket`;
  }

  /** The owner's token. That of a sign-in holds for half an hour, and tests at night take longer. */
  get token(): string {
    if (this.#token === undefined) throw new Error("there is no token: start() signs in");
    return this.#token;
  }

  /** @throws with the status and Home Assistant's last lines */
  async request<T = Json>(path: string, body?: Json | URLSearchParams): Promise<T> {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(`${this.url}${path}`, {
      method: body ? "POST" : "GET",
      headers: {
        // Its page sends this header, from which it takes its own address.
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

  /**
   * Sends one command over its WebSocket, for what it does not serve over HTTP.
   * @throws with its answer, or when the connection ends before one
   */
  async command<T = unknown>(command: Json & { type: string }, token = this.token): Promise<T> {
    const socket = new WebSocket(this.socketUrl);
    try {
      return await new Promise<T>((resolve, reject) => {
        socket.onclose = () => reject(new Error(`${command.type}: Home Assistant closed the WebSocket`));
        socket.onmessage = ({ data }) => {
          const { type, success, result } = JSON.parse(String(data)) as Result<T>;
          if (type === "auth_required") socket.send(JSON.stringify({ type: "auth", access_token: token }));
          if (type === "auth_ok") socket.send(JSON.stringify({ id: 1, ...command }));
          if (type === "auth_invalid" || success === false)
            reject(new Error(`${command.type}: ${String(data)}`));
          if (type === "result" && success) resolve(result);
        };
      });
    } finally {
      socket.close();
    }
  }

  /**
   * Makes a user who is no administrator.
   * @returns a long-lived token of it
   */
  async addUser(name: string): Promise<string> {
    const group_ids = ["system-users"];
    const { user } = await this.command<{ user: { id: string } }>({
      type: "config/auth/create",
      name,
      group_ids,
      local_only: true,
    });
    const login = { username: name, password: PASSWORD };
    const provider = "config/auth_provider/homeassistant/create";
    await this.command({ type: provider, user_id: user.id, ...login });
    const client_id = `${this.url}/`;
    const code = await this.signIn(name, { client_id, redirect_uri: client_id });
    const grant = new URLSearchParams({ client_id, grant_type: "authorization_code", code });
    const { access_token } = await this.request<{ access_token: string }>("/auth/token", grant);
    const lasting = { type: "auth/long_lived_access_token", client_name: "edgecall", lifespan: 30 };
    return await this.command<string>(lasting, access_token);
  }

  /**
   * Sets our lab up.
   * @param devices 0: one for each behaviour; -1, -2: switches and lights of each once more
   * @param few of many devices each has three entities, and every third one a fourth; else six, and two of three a seventh
   */
  async addLab(devices: number, few = false): Promise<void> {
    await this.#add("lab", { devices, few });
  }

  /** Of all entities that have an id of their own. */
  registered(): Promise<Registered[]> {
    return this.command({ type: "config/entity_registry/list" });
  }

  /** Exposes all of them to Assist. */
  async exposeAll(): Promise<void> {
    const entity_ids = (await this.registered()).map(({ entity_id }) => entity_id);
    const assistants = ["conversation"];
    await this.command({
      type: "homeassistant/expose_entity",
      assistants,
      entity_ids,
      should_expose: true,
    });
  }

  /** Makes a group of lights, as its page does. @param members their entity ids @param hides them elsewhere */
  async addLightGroup(name: string, members: readonly string[], hides = false): Promise<void> {
    const { flow_id } = await this.flow("group", { next_step_id: "light" });
    const { type } = await this.step(flow_id, { name, entities: members, hide_members: hides });
    if (type !== "create_entry") throw new Error(`Home Assistant makes no group: ${type}`);
  }

  /** Begins to set an integration up, and answers its first form. */
  async flow<T extends Flow = Flow>(handler: string, input: Json): Promise<T> {
    const { flow_id } = await this.request<Flow>(FLOWS, { handler });
    return await this.step(flow_id, input);
  }

  /** Answers the next form of a flow. */
  async step<T extends Flow = Flow>(flow: string, input: Json): Promise<T> {
    return await this.request(`${FLOWS}/${flow}`, input);
  }

  /**
   * Adds a conversation agent by its integration "LiteLLM".
   * @param connection `url` and `api_key` of the endpoint, which has to list the model
   * @returns the agent's entity id
   */
  async addConversation(connection: Json, options: Json & { model: string }): Promise<string> {
    const before = await this.#conversations();
    const { result } = await this.#add("litellm", connection);
    const adding = `${ENTRIES}/subentries/flow`;
    const handler = [result.entry_id, "conversation"];
    const form = await this.request<Flow & { data_schema: Json[] }>(adding, { handler });
    // It has asked the endpoint for its models.
    const models = JSON.stringify(form.data_schema);
    if (!models.includes(`"${options.model}"`))
      throw new Error(`Home Assistant does not offer ${options.model}: ${models}`);
    const { type } = await this.request<Flow>(`${adding}/${form.flow_id}`, options);
    if (type !== "create_entry") throw new Error(`Home Assistant does not add the agent: ${type}`);
    const added = async () => (await this.#conversations()).find((id) => !before.includes(id));
    return await until(added, { within: 60_000, every: 200, what: "the conversation agent is there" });
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
      const known = new Set((await this.states()).map(({ attributes }) => attributes.friendly_name));
      return names.every((name) => known.has(name));
    };
    await until(hasAll, { within: 60_000, every: 200, what: "Home Assistant has the broker's devices" });
  }

  /** The state of the entity with this name; undefined: it has none. */
  async state(name: string): Promise<string | undefined> {
    return (await this.states()).find(({ attributes }) => attributes.friendly_name === name)?.state;
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

  /** Ends it, and starts it again with the same home. Resolves when it is told to. */
  async restart(): Promise<void> {
    await this.#running.again(STOPS_WITHIN_MS);
  }

  /** Stops it where it is, until `thaw`. */
  freeze(): void {
    this.#running.freeze();
  }

  thaw(): void {
    this.#running.thaw();
  }

  /** All lines that it wrote, also before a restart. */
  get lines(): readonly string[] {
    return this.#running.lines;
  }

  /** Signs a user in as its page does. @param query of the page's address @returns the code for the program that sent the browser there */
  async signIn(name: string, query: Readonly<Record<string, string>>): Promise<string> {
    const { client_id = "", redirect_uri, code_challenge, code_challenge_method } = query;
    const { flow_id } = await this.request<Flow>("/auth/login_flow", {
      client_id,
      handler: ["homeassistant", null],
      redirect_uri,
      ...(code_challenge !== undefined && { code_challenge, code_challenge_method }),
    });
    const login = { client_id, username: name, password: PASSWORD };
    return (await this.request<{ result: string }>(`/auth/login_flow/${flow_id}`, login)).result;
  }

  /** Ends a token of a user: its long-lived one, or what it gave to a client. @param token of this user */
  async revoke(token: string, client?: string): Promise<void> {
    type Refresh = { id: string; is_current: boolean; client_id: string | null };
    const all = await this.command<Refresh[]>({ type: "auth/refresh_tokens" }, token);
    const wanted = all.find(({ is_current, client_id }) =>
      client === undefined ? is_current : client_id === client,
    );
    const command = { type: "auth/delete_refresh_token", refresh_token_id: wanted?.id };
    // It ends the connection that asks, perhaps before its answer.
    await this.command(command, token).catch((error: unknown) => {
      if (!String(error).includes("closed the WebSocket")) throw error;
    });
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

  /** Of all its entities. */
  states(): Promise<State[]> {
    return this.request("/api/states");
  }

  async #conversations(): Promise<string[]> {
    return (await this.states())
      .map(({ entity_id: id }) => id)
      .filter((id) => id.startsWith("conversation."));
  }

  async #signIn(): Promise<void> {
    const client_id = `${this.url}/`;
    const owner = { name: "a", username: "a", password: PASSWORD, client_id, language: "en" };
    const { auth_code: code } = await this.request<{ auth_code: string }>("/api/onboarding/users", owner);
    const grant = new URLSearchParams({ client_id, grant_type: "authorization_code", code });
    const { access_token } = await this.request<{ access_token: string }>("/auth/token", grant);
    const lasting = { type: "auth/long_lived_access_token", client_name: "tests", lifespan: 1 };
    this.#token = await this.command<string>(lasting, access_token);
  }
}

/**
 * Where it listens. An address in its configuration would be a trial: it restarts itself elsewhere when that is not confirmed within 5
 * minutes.
 */
function writeAddress(folder: string, port: number): void {
  const stable = {
    server_host: ["127.0.0.1"],
    server_port: port,
    cors_allowed_origins: [],
    use_x_forwarded_for: false,
    trusted_proxies: [],
    login_attempts_threshold: -1,
    ip_ban_enabled: true,
    ssl_profile: "modern_v4",
    use_x_frame_options: true,
    created_at: "2026-01-01T00:00:00+00:00",
  };
  const data = { stable, pending: null, yaml_migration_done: true };
  mkdirSync(join(folder, ".storage"));
  writeFileSync(
    join(folder, ".storage/http"),
    JSON.stringify({ version: 3, minor_version: 1, key: "http", data }),
  );
}
