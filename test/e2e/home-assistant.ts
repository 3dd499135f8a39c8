/** Home Assistant as published on PyPI, as a child process with a folder and an owner of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../local/port.ts";
import { HOME_ASSISTANT } from "../needs.ts";
import { Running } from "../publishers/running.ts";
import { until } from "../wait.ts";
import { ROOT } from "./program.ts";

const ALWAYS = ["auth", "api", "config", "onboarding", "websocket_api", "conversation"];

type Json = Record<string, unknown>;
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

  /** @throws with the status and Home Assistant's last lines */
  async request<T = Json>(path: string, body?: Json | URLSearchParams): Promise<T> {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(`${this.url}${path}`, {
      method: body ? "POST" : "GET",
      headers: {
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
        ...(body && !isForm && { "content-type": "application/json" }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    throw new Error(`${path}: ${response.status} ${text}\n${this.#running.lines.slice(-20).join("\n")}`);
  }

  /** Adds the broker's devices. Resolves when it has those with these names. */
  async useBroker(port: number, names: readonly string[]): Promise<void> {
    const other_settings = { set_client_cert: false, set_ca_cert: "off", transport: "tcp" };
    await this.#add("mqtt", { broker: "127.0.0.1", port, protocol: "5", other_settings });
    const hasAll = async () => {
      const states = await this.request<State[]>("/api/states");
      const known = new Set(states.map(({ attributes }) => attributes.friendly_name));
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

  async #add(handler: string, settings: Json): Promise<void> {
    const flows = "/api/config/config_entries/flow";
    const { flow_id } = await this.request<{ flow_id: string }>(flows, { handler });
    const { type } = await this.request(`${flows}/${flow_id}`, settings);
    if (type !== "create_entry") throw new Error(`Home Assistant does not set up ${handler}: ${type}`);
  }

  async #signIn(): Promise<void> {
    const client_id = `${this.url}/`;
    const owner = { name: "a", username: "a", password: "long enough", client_id, language: "en" };
    const { auth_code: code } = await this.request<{ auth_code: string }>("/api/onboarding/users", owner);
    const grant = new URLSearchParams({ client_id, grant_type: "authorization_code", code });
    this.#token = (await this.request<{ access_token: string }>("/auth/token", grant)).access_token;
  }
}
