/** Reads `[[nodes]]` of agent.toml: other machines on which this agent's tools can work. */
import { resolve } from "node:path";
import { check, type Parsed, wrong, z } from "@edgecall/core/protocol/parse.ts";
import { MAX_NODES, NODE_FIELDS, type Node, nodeProblem } from "../env/nodes/node.ts";

const Kind = z.looseObject({ kind: z.enum(["ssh", "http"]) });
const { both, ssh, http } = NODE_FIELDS;
const Ssh = z.strictObject({ kind: z.literal("ssh"), ...both, ...ssh, port: z._default(ssh.port, 22) });
const Http = z.strictObject({ kind: z.literal("http"), ...both, ...http });

/** @param value of the key `nodes`; @returns an error that names the key and what would be right */
export function readNodes(value: unknown): Parsed<Node[]> {
  if (value === undefined) return { ok: true, value: [] };
  if (!Array.isArray(value)) return wrong("nodes: must be a list of sections, each [[nodes]]");
  if (value.length > MAX_NODES) return wrong(`nodes: at most ${MAX_NODES}`);
  const nodes: Node[] = [];
  for (const [index, item] of value.entries()) {
    const kind = check(Kind, item);
    if (!kind.ok) return wrong(`nodes.${index}.${kind.error}`);
    const read: Parsed<Node> = check<Node>(kind.value.kind === "ssh" ? Ssh : Http, item);
    if (!read.ok) return wrong(`nodes.${index}.${read.error}`);
    const node = read.value;
    const problem = nodeProblem(withPaths([node], (text) => resolve("/", text))[0] ?? node);
    if (problem !== undefined) return wrong(`nodes.${index}: ${problem}`);
    if (nodes.some(({ name }) => name === node.name))
      return wrong(`nodes.${index}.name: there is another node '${node.name}'`);
    nodes.push(node);
  }
  return { ok: true, value: nodes };
}

/** @param path makes a path of the file absolute */
export function withPaths(nodes: readonly Node[], path: (text: string) => string): Node[] {
  return nodes.map((node) => {
    if (node.kind === "ssh") return { ...node, key: path(node.key) };
    const { token_file, ca_file } = node;
    return {
      ...node,
      token_file: path(token_file),
      ...(ca_file !== undefined && { ca_file: path(ca_file) }),
    };
  });
}
