import { z } from "@edgecall/core/protocol/parse.ts";
import {
  defineTool,
  faultResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  textResult,
} from "@edgecall/core/tools/contract.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { Environment } from "../../env/environment.ts";
import { MAX_NODES, type Node, type SshNode } from "../../env/nodes/node.ts";
import { NodeError, type Nodes } from "../../env/nodes/nodes.ts";
import { programThere, runProgram } from "../machine/run-program.ts";

const DEFAULT_PORT = 22;
const DEFAULT_KEY = "~/.ssh/id_ed25519";
const NEEDS: Partial<Record<string, ReadonlyArray<"name" | "host" | "user" | "cwd">>> = {
  describe: ["name"],
  add: ["name", "host", "user", "cwd"],
  remove: ["name"],
};

const text = (max: number, what: string) =>
  z.optional(z.string().check(z.minLength(1), z.maxLength(max))).check(z.describe(what));
const INPUT = z.strictObject({
  action: z.enum(["list", "describe", "add", "remove"]),
  name: text(32, "For describe, add and remove: lower-case letters, digits, - and _"),
  host: text(253, "For add: host name or address"),
  user: text(64, "For add: user to log in as"),
  cwd: text(4_096, "For add: absolute path of the folder there to work in"),
  key: text(4_096, `For add: path of the private key on this device (${DEFAULT_KEY})`),
  port: z
    .optional(z.int().check(z.minimum(1), z.maximum(65_535)))
    .check(z.describe(`For add: port of ssh (${DEFAULT_PORT})`)),
});
type Input = z.output<typeof INPUT>;

/** @param home where the tools run when no node is named */
export function nodes(known: Nodes, home: Pick<Environment, "name" | "kind" | "cwd">): Tool {
  return defineTool({
    name: "nodes",
    description: `The machines that this agent's tools can work on: list them, describe one (asks it for its system), add one that ssh reaches (its host key must be known to this device) or remove one; at most ${MAX_NODES}. Tools that have an argument 'node' take a name of this list.`,
    input: INPUT,
    effect: "exec",
    effectIn: ({ action }) => (action === "list" || action === "describe" ? "read" : "exec"),
    permission: "shell",
    idempotent: true,
    lock: () => "nodes",
    timeoutMs: 30_000,
    maxTimeoutMs: 120_000,
    danger: ({ action, name, host, user }) =>
      action === "add"
        ? `from then on tools can work on ${user}@${host}, as the node '${name}'`
        : action === "remove"
          ? `tools cannot work on the node '${name}' any more`
          : undefined,
    async execute(input, context): Promise<ToolResult> {
      const missing = NEEDS[input.action]?.find((name) => input[name] === undefined);
      if (missing)
        return faultResult(
          "invalid_params",
          `Error: Invalid parameters for 'nodes': action="${input.action}" needs '${missing}'.`,
        );
      try {
        return await ACTIONS[input.action](known, home, input, context);
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        return faultResult(error.code, `Error: ${error.message}\n${namesOf(known)}`);
      }
    },
  });
}

/** Lists the known nodes, for `node` arguments and errors. */
function namesOf(known: Nodes): string {
  const names = known.list().map(({ name }) => name);
  return `Nodes: ${names.join(", ") || "none beside this device"}.`;
}

type Home = Pick<Environment, "name" | "kind" | "cwd">;
type Act = (known: Nodes, home: Home, input: Input, context: ToolContext) => Promise<ToolResult>;

const ACTIONS: Record<Input["action"], Act> = {
  async list(known, home) {
    const lines = [
      `${home.name}: this device, in ${home.cwd} (where tools work when no node is named)`,
      ...known.list().map(lineOf),
      ...(known.problem === undefined ? [] : [`[${known.problem}]`]),
    ];
    return textResult(lines.join("\n"), { nodes: known.list().map(({ name }) => name) });
  },

  async describe(known, home, { name = "" }, { signal }) {
    if (name === home.name) return textResult(`${home.name}: this device, in ${home.cwd}`);
    const node = known.get(name);
    const environment = known.environment(name);
    if (!node || !environment) throw new NodeError("not_found", `There is no node '${name}'.`);
    try {
      const { stdout } = await runProgram(environment.exec, ["uname", "-a"], { signal });
      return textResult(`${lineOf(node)}\nIt answers: ${stdout.trim().slice(0, 500)}`);
    } catch (error) {
      signal.throwIfAborted();
      const why = messageOf(error);
      return faultResult("unavailable", `Error: ${lineOf(node)}\nIt does not answer: ${why}`, {
        cause: error,
      });
    }
  },

  async add(known, _home, input, { signal }) {
    const { name = "", host = "", user = "", cwd = "", key = DEFAULT_KEY, port = DEFAULT_PORT } = input;
    const node: SshNode = { name, host, user, key, port, cwd };
    const missing = await known.problemOf(node);
    signal.throwIfAborted();
    if (missing !== undefined)
      return faultResult("unavailable", {
        text: `Error: The node '${name}' was not added, since it does not work: ${missing}`,
        advice: `Tell the user; where its host key is unknown, they add it on this device with: ssh-keyscan -p ${port} ${host} >> ~/.ssh/known_hosts`,
      });
    await known.add(node);
    return textResult(
      `Added ${lineOf({ kind: "ssh", ...node })}\nUse node="${name}" with the tools that have it.`,
    );
  },

  async remove(known, _home, { name = "" }) {
    await known.remove(name);
    return textResult(`Removed the node '${name}'.`);
  },
};

function lineOf(node: Node): string {
  const { name, cwd } = node;
  if (node.kind === "http") return `${name}: the agent at ${node.url}, in ${cwd}`;
  const { user, host, port } = node;
  return `${name}: ssh to ${user}@${host}${port === DEFAULT_PORT ? "" : ` port ${port}`}, in ${cwd}`;
}

/** @returns what is missing for other machines and how to install it; undefined when there is an ssh client */
export async function nodesMissing(exec: Environment["exec"]): Promise<string | undefined> {
  return (await programThere(exec, ["ssh", "-V"]))
    ? undefined
    : "there is no ssh client: apt install openssh-client";
}
