/**
 * A program that is connected by sign-in and calls devices over MCP. It trades its refresh token before each call, as programs do
 * with short access tokens: twice at once, and again when the answer was lost. However often it is cut off, it stays connected.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SignIn, type Tokens } from "../oauth-sign-in.ts";
import { TOKENS } from "../tokens.ts";
import type { Asked, SeenCall, SeenTurn } from "./client.ts";
import { answerMark } from "./model.ts";
import { callsOf, type TurnScript } from "./plan.ts";

const REQUEST_MS = 30_000;
const AGAIN_MS = 50;

type Pair = Pick<Tokens, "access_token" | "refresh_token">;
type Question = { key: string; script: TurnScript };
type Result = {
  content: Array<{ text?: string }>;
  _meta: Record<`edgecall/${"call_id" | "status" | "error_type"}`, string>;
};

export class ConnectedProgram {
  readonly #url: string;
  #client = "";
  #tokens: Pair = { access_token: "", refresh_token: "" };

  /** @param url the gateway's address */
  constructor(url: string) {
    this.#url = url;
  }

  /** @param origin the gateway's, as it names itself */
  async connect(origin: string): Promise<void> {
    const signIn = new SignIn((path, init) => this.#send(path, init), origin);
    const { clientId, ...tokens } = await signIn.connect(TOKENS.owner, { command: "yes", trusted: "yes" });
    this.#client = clientId;
    this.#tokens = tokens;
  }

  /**
   * Makes the script's only call, under its key. Never throws.
   * @param before what an earlier try was told, whose words a later result may replace
   */
  async ask({ key, script }: Question, withinMs: number, before?: SeenTurn): Promise<Asked> {
    const asked = { cutOff: 0, turns: [] as string[], faults: [] as string[] };
    const began = performance.now();
    let answer: SeenTurn | undefined;
    while (answer === undefined && performance.now() - began < withinMs) {
      answer = await this.#attempt(key, script, asked.faults).catch(() => undefined);
      if (answer !== undefined) continue;
      asked.cutOff += 1;
      await sleep(AGAIN_MS);
    }
    const mayChange = before?.calls.some(({ error_type }) => error_type === "outcome_unknown") === true;
    if (answer && mayChange) answer = { ...answer, answer: before.answer };
    return { ...asked, answer, ms: performance.now() - began };
  }

  async #attempt(key: string, script: TurnScript, faults: string[]): Promise<SeenTurn | undefined> {
    const [planned] = callsOf(script);
    if (!planned) throw new Error(`${key} calls nothing`);
    const { agent, place, wait } = planned;
    await this.#refresh(faults);
    const args = { agent_id: agent, action: "append", params: { path: place, wait_ms: wait } };
    let result = await this.#call("edge_call", args, key, faults);
    while (result?._meta["edgecall/status"] === "running")
      result = await this.#call(
        "edge_result",
        { agent_id: agent, call_id: result._meta["edgecall/call_id"] },
        "",
        faults,
      );
    if (!result) return undefined;
    const text = result.content.map((block) => block.text ?? "").join("");
    const {
      "edgecall/call_id": id,
      "edgecall/status": status,
      "edgecall/error_type": errorType,
    } = result._meta;
    const call: SeenCall =
      status === "success"
        ? { id, agent, status, result: text, args }
        : { id, agent, status: "error", error: text, args, ...(errorType && { error_type: errorType }) };
    return { turn: key, status: "done", answer: `${answerMark(key)} ${text}`, calls: [call] };
  }

  /** Two of its processes refresh at once; the answer that comes first counts. */
  async #refresh(faults: string[]): Promise<void> {
    const before = this.#tokens;
    await Promise.any([this.#trade(before, faults), this.#trade(before, faults)]);
  }

  async #trade(before: Pair, faults: string[]): Promise<void> {
    const response = await this.#send("/oauth/token", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        grant_type: "refresh_token",
        client_id: this.#client,
        refresh_token: before.refresh_token,
      }).toString(),
    });
    if (response.status >= 500) throw new Error(`${response.status}`);
    if (!response.ok) {
      faults.push(`signed out: ${response.status} ${(await response.text()).slice(0, 200)}`);
      throw new Error("signed out");
    }
    const tokens = (await response.json()) as Tokens;
    // Another call may have traded them meanwhile.
    if (this.#tokens === before) this.#tokens = tokens;
  }

  /** @returns undefined: refused, which is a fault @throws when the connection breaks */
  async #call(name: string, args: object, key: string, faults: string[]): Promise<Result | undefined> {
    const response = await this.#send("/mcp", {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.#tokens.access_token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-06-18",
        ...(key && { "idempotency-key": key }),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
    const text = await response.text();
    if (response.status >= 500) throw new Error(`${response.status}`);
    const data =
      text
        .split("\n")
        .findLast((line) => line.startsWith("data: "))
        ?.slice(6) ?? text;
    const { result } = (response.ok ? JSON.parse(data) : {}) as { result?: Result };
    if (!result?._meta?.["edgecall/call_id"])
      faults.push(`refused: ${response.status} ${text.slice(0, 200)}`);
    return result?._meta?.["edgecall/call_id"] === undefined ? undefined : result;
  }

  #send(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.#url}${path}`, { ...init, signal: AbortSignal.timeout(REQUEST_MS) });
  }
}
