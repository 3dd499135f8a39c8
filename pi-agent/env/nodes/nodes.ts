/**
 * The other machines on which the agent's tools can work: those of agent.toml, and those over ssh that a model added, which a
 * file lists. Connections open on first use. This device itself is never an entry, since its owner's settings decide how it is
 * confined.
 */
import { readFile } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import type { Environment } from "../environment.ts";
import { MAX_NODES, type Node, nodeMissing, nodeProblem, openNode, SshNode } from "./node.ts";

const FILE = z.strictObject({ version: z.literal(1), nodes: z.array(SshNode).check(z.maxLength(MAX_NODES)) });

/** A node was not added or removed. The message is for the model. */
export class NodeError extends Error {
  override readonly name = "NodeError";
  readonly code: "invalid_params" | "not_found" | "exists" | "io";

  constructor(code: NodeError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export type NodesOptions = {
  /** The file with the host keys of ssh; absent = `~/.ssh/known_hosts`. */
  knownHosts?: string | undefined;
  /** The nodes of agent.toml, which the file cannot replace and no tool can remove. */
  known?: readonly Node[];
};

export class Nodes {
  readonly #file: string;
  readonly #knownHosts: string | undefined;
  readonly #known: ReadonlyMap<string, Node>;
  readonly #added = new Map<string, SshNode>();
  readonly #open = new Map<string, Environment>();
  /** The problem with the file. It then has no nodes and is not written, so that the owner can repair it. */
  readonly problem: string | undefined;

  /** @param file nodes.json, which may be missing */
  static async open(file: string, options: NodesOptions = {}): Promise<Nodes> {
    let content: string | undefined;
    try {
      content = await readFile(file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") return new Nodes(file, options, [], `${file} cannot be read (${code})`);
    }
    if (content === undefined) return new Nodes(file, options, []);
    const read = checkJson(FILE, content);
    return read.ok
      ? new Nodes(file, options, read.value.nodes)
      : new Nodes(file, options, [], `${file} is not as it should be: ${read.error}`);
  }

  private constructor(
    file: string,
    { knownHosts, known = [] }: NodesOptions,
    added: readonly SshNode[],
    problem?: string,
  ) {
    this.#file = file;
    this.#knownHosts = knownHosts;
    this.#known = new Map(known.map((node) => [node.name, node]));
    this.problem = problem;
    for (const node of added) this.#added.set(node.name, node);
  }

  /** Sorted by name. */
  list(): Node[] {
    const names = [...new Set([...this.#known.keys(), ...this.#added.keys()])].sort();
    return names.flatMap((name) => this.get(name) ?? []);
  }

  get(name: string): Node | undefined {
    const added = this.#added.get(name);
    return this.#known.get(name) ?? (added && { kind: "ssh", ...added });
  }

  /** Returns the node's environment, which connects on first use and stays the same until the node is removed. */
  environment(name: string): Environment | undefined {
    const node = this.get(name);
    if (!node) return undefined;
    const environment = this.#open.get(name) ?? openNode(node, this.#knownHosts);
    this.#open.set(name, environment);
    return environment;
  }

  /** Connects to a node once. @returns what is wrong with the connection; undefined when it works @throws NodeError */
  async problemOf(node: SshNode): Promise<string | undefined> {
    checkNode(node);
    return await nodeMissing(node, this.#knownHosts);
  }

  /** @throws NodeError */
  async add(node: SshNode): Promise<void> {
    this.#mustBeWhole();
    checkNode(node);
    if (this.get(node.name))
      throw new NodeError(
        "exists",
        `There is a node '${node.name}' already. Remove it first, or choose another name.`,
      );
    if (this.#added.size >= MAX_NODES)
      throw new NodeError(
        "invalid_params",
        `There are ${MAX_NODES} nodes, which is the most. Remove one first.`,
      );
    await this.#write([...this.#added.values(), node]);
    this.#added.set(node.name, node);
  }

  /** @throws NodeError */
  async remove(name: string): Promise<void> {
    this.#mustBeWhole();
    if (this.#known.has(name))
      throw new NodeError(
        "invalid_params",
        `The node '${name}' is of this device's agent.toml; only its owner can remove it there.`,
      );
    if (!this.#added.has(name)) throw new NodeError("not_found", `There is no node '${name}'.`);
    await this.#write([...this.#added.values()].filter((node) => node.name !== name));
    this.#added.delete(name);
    const environment = this.#open.get(name);
    this.#open.delete(name);
    await environment?.close();
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((environment) => environment.close()));
  }

  #mustBeWhole(): void {
    if (this.problem !== undefined)
      throw new NodeError(
        "io",
        `The list of nodes is not changed: ${this.problem}. Its owner has to mend it.`,
      );
  }

  async #write(added: readonly SshNode[]): Promise<void> {
    const nodes = [...added].sort((a, b) => (a.name < b.name ? -1 : 1));
    await writeAtomic(this.#file, `${JSON.stringify({ version: 1, nodes }, null, 2)}\n`);
  }
}

/** @throws NodeError for an invalid node */
function checkNode(node: SshNode): void {
  const read = SshNode.safeParse(node);
  if (!read.success) {
    const { path, message } = read.error.issues[0] ?? { path: [], message: "wrong" };
    throw new NodeError("invalid_params", `'${path.join(".")}' is not right: ${message}.`);
  }
  const problem = nodeProblem({ kind: "ssh", ...node });
  if (problem !== undefined) throw new NodeError("invalid_params", problem);
}
