/** The texts that a model reads when a tool fails: those of the tool-loop design, word for word, in both ways. */

import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import type { CallRecord } from "./gateway-client.ts";
import { useStack } from "./stack.ts";

/** The design's own example: an agent with these three tools. */
const tools = { enabled: ["bash", "read", "write"] };

/** Returns the person's version of the text. */
function personal(text: string): string {
  return text.slice("Error: ".length, text.indexOf("\n"));
}

describe("an agent with bash, read and write", { tags: ["needs/bubblewrap"] }, () => {
  const stack = useStack({}, async (stack) => {
    const patient = { tools: { ...tools, bash_timeout_ms: 1_000 }, policy: { shell: "allow" } };
    await stack.startAgent({ id: "pi", model: true, top: patient });
    await stack.startAgent({ id: "shut", model: true, top: { tools, policy: { shell: "deny" } } });
    await stack.startAgent({
      id: "reader",
      model: true,
      top: { tools: { enabled: ["read", "bash"] }, agent: { capabilities: ["file_read"] } },
    });
    for (const id of ["pi", "shut", "reader"]) await stack.gateway.online(id);
  });

  /** Returns exactly what the asking model received. */
  async function whatModelReads(step: Step): Promise<{ text: string | null; call: CallRecord | undefined }> {
    const { answer, calls } = await stack.gateway.ask(script(step, RESULTS));
    return { text: answer, call: calls[0] };
  }

  /** The device's own model calls the tool, and answers with what it received. */
  async function toldByItself(agent: string, name: string, args: Record<string, unknown>) {
    const { text, call } = await whatModelReads(ownLoop(agent, tool(name, args), RESULTS));
    expect(call?.calls).toHaveLength(1);
    return { text, call: call?.calls?.[0] };
  }

  test("not found", async () => {
    const text =
      "Error: Tool 'git_status' not found. Available tools: bash, read, write.\n" +
      "Please choose an available tool or explain to the user.";
    expect(await toldByItself("pi", "git_status", {})).toEqual({
      text,
      call: expect.objectContaining({ status: "error", error_type: "not_found", error: personal(text) }),
    });
    // The gateway knows the actions (reads come first), so the device is not asked.
    expect(await whatModelReads(action("pi", "git_status"))).toEqual({
      text:
        "Error: Invalid parameters for 'edge_call': agent 'pi' has no action 'git_status'.\n" +
        "Required: [agent_id]. Optional: [query, action, params].\n" +
        "Actions of 'pi': read, bash, write.",
      call: expect.objectContaining({ status: "error", error_type: "invalid_params" }),
    });
    expect((await whatModelReads(tool("bash", { command: "ls" }))).text).toBe(
      "Error: Tool 'bash' not found. Available tools: edge_call.\n" +
        "Please choose an available tool or explain to the user.",
    );
    // The device itself answers a client that bypasses the gateway's list.
    const { body } = await stack.gateway.command("pi", "tool", { tool: "git_status", parameters: {} });
    expect(body.payload).toMatchObject({
      status: "error",
      error_type: "not_found",
      error: text.split("\n")[0],
    });
    expect(body.payload).not.toHaveProperty("advice");
  });

  test("timeout", async () => {
    const text =
      "Error: Tool 'bash' timed out after 1s. Command: 'sleep 60'.\n" +
      "Try again with a shorter timeout or explain to the user.";
    const failed = {
      text,
      call: expect.objectContaining({ status: "error", error_type: "timeout", error: personal(text) }),
    };
    expect(await toldByItself("pi", "bash", { command: "sleep 60" })).toEqual(failed);
    expect(await whatModelReads(action("pi", "bash", { command: "sleep 60" }))).toEqual(failed);
    // Its output until then is not lost.
    const half = { command: "echo half; sleep 60", timeout_ms: 700 };
    expect((await whatModelReads(action("pi", "bash", half))).text).toBe(
      "Error: Tool 'bash' timed out after 0.7s. Command: 'echo half; sleep 60'.\n" +
        "Output so far:\nhalf\n" +
        "Try again with a shorter timeout or explain to the user.",
    );
  });

  test("permission", async () => {
    const text =
      "Error: Permission denied for tool 'bash' (requires: shell).\n" +
      "This agent does not have shell access. Explain to the user.";
    const failed = {
      text,
      call: expect.objectContaining({
        status: "error",
        error_type: "permission_denied",
        error: personal(text),
      }),
    };
    expect(await toldByItself("shut", "bash", { command: "touch was-here" })).toEqual(failed);
    expect(await whatModelReads(action("shut", "bash", { command: "touch was-here" }))).toEqual(failed);
    expect(readdirSync(stack.workspaceOf("shut"))).toEqual([]);
    // An agent whose capabilities exclude a tool does not have it at all.
    expect((await toldByItself("reader", "bash", { command: "touch was-here" })).text).toBe(
      "Error: Tool 'bash' not found. Available tools: read.\n" +
        "Please choose an available tool or explain to the user.",
    );
    expect((await whatModelReads(action("reader", "bash", { command: "ls" }))).text).toContain(
      "agent 'reader' has no action 'bash'",
    );
  });

  test("parameters", async () => {
    const text =
      "Error: Invalid parameters for 'read': missing 'path'.\n" +
      "Required: [path]. Optional: [offset, limit].";
    expect(await toldByItself("pi", "read", {})).toEqual({
      text,
      call: expect.objectContaining({
        status: "error",
        error_type: "invalid_params",
        error: text.slice("Error: ".length),
      }),
    });
    // The gateway's model never received the schema, so the error contains it.
    const called = await whatModelReads(action("pi", "read", { limit: 5 }));
    const [first, second, schema] = called.text?.split(/\n(?=Required|Schema)/) ?? [];
    expect(`${first}\n${second}`).toBe(text);
    expect(JSON.parse(schema?.replace("Schema of 'read': ", "") ?? "")).toMatchObject({
      required: ["path"],
      properties: { path: { type: "string" }, offset: { type: "integer" }, limit: { type: "integer" } },
    });
    expect(called.call).toMatchObject({ status: "error", error_type: "invalid_params" });
  });

  test("every history that the models received is valid", () => {
    expect(stack.model.breaches).toEqual([]);
  });
});
