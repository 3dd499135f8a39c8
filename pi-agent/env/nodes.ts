/**
 * The other machines on which the agent's tools can work over ssh. A file lists them, and connections open on first use. This
 * device itself is never an entry, since its owner's settings decide how it is confined.
 */
import { readFile } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { Environment } from "./environment.ts";
import { type SshOptions, ssh, sshArguments } from "./ssh/ssh.ts";

export const MAX_NODES = 32;
export const NODE_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
/** Reserved names that mean this device. */
const OWN_NAMES = ["local", "sandbox"];

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max));
const PORT = z.int().check(z.minimum(1), z.maximum(65_535));

const NODE = z.strictObject({
  name: z.string().check(z.regex(NODE_NAME)),
  host: text(253),
  user: text(64),
  /** Path of the private key on this device. */
  key: text(4_096),
  port: PORT,
  /** The folder there that tools work in. */
  cwd: text(4_096),
});
const FILE = z.strictObject({ version: z.literal(1), nodes: z.array(NODE).check(z.maxLength(MAX_NODES)) });

export type Node = z.output<typeof NODE>;

/** A node was not added or removed. The message is for the model. */
export class NodeError extends Error {
  override readonly name = "NodeError";
  readonly code: "invalid_params" | "not_found" | "exists" | "io";

  constructor(code: NodeError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export class Nodes {
  readonly #file: string;
  readonly #knownHosts: string | undefined;
  readonly #nodes = new Map<string, Node>();
  readonly #open = new Map<string, Environment>();
  /** The problem with the file. It then has no nodes and is not written, so that the owner can repair it. */
  readonly problem: string | undefined;

  /**
   * @param file nodes.json, which may be missing
   * @param options.knownHosts the file with the nodes' host keys; `~/.ssh/known_hosts` when absent
   */
  static async open(file: string, { knownHosts }: { knownHosts?: string } = {}): Promise<Nodes> {
    let content: string | undefined;
    try {
      content = await readFile(file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT") return new Nodes({ file, knownHosts }, [], `${file} cannot be read (${code})`);
    }
    if (content === undefined) return new Nodes({ file, knownHosts }, []);
    const read = checkJson(FILE, content);
    return read.ok
      ? new Nodes({ file, knownHosts }, read.value.nodes)
      : new Nodes({ file, knownHosts }, [], `${file} is not as it should be: ${read.error}`);
  }

  private constructor(
    { file, knownHosts }: { file: string; knownHosts: string | undefined },
    nodes: readonly Node[],
    problem?: string,
  ) {
    this.#file = file;
    this.#knownHosts = knownHosts;
    this.problem = problem;
    for (const node of nodes) this.#nodes.set(node.name, node);
  }

  /** Sorted by name. */
  list(): Node[] {
    return [...this.#nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Returns the node's environment, which connects on first use and stays the same until the node is removed. */
  environment(name: string): Environment | undefined {
    const node = this.#nodes.get(name);
    if (!node) return undefined;
    const environment = this.#open.get(name) ?? ssh(this.connection(node));
    this.#open.set(name, environment);
    return environment;
  }

  /** Returns the options for connecting to a node. */
  connection(node: Node): SshOptions {
    return { ...node, ...(this.#knownHosts !== undefined && { knownHosts: this.#knownHosts }) };
  }

  /** @throws NodeError */
  async add(node: Node): Promise<void> {
    this.#mustBeWhole();
    checkNode(node);
    if (this.#nodes.has(node.name))
      throw new NodeError(
        "exists",
        `There is a node '${node.name}' already. Remove it first, or choose another name.`,
      );
    if (this.#nodes.size >= MAX_NODES)
      throw new NodeError(
        "invalid_params",
        `There are ${MAX_NODES} nodes, which is the most. Remove one first.`,
      );
    await this.#write([...this.list(), node]);
    this.#nodes.set(node.name, node);
  }

  /** @throws NodeError */
  async remove(name: string): Promise<void> {
    this.#mustBeWhole();
    if (!this.#nodes.has(name)) throw new NodeError("not_found", `There is no node '${name}'.`);
    await this.#write(this.list().filter((node) => node.name !== name));
    this.#nodes.delete(name);
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

  async #write(nodes: readonly Node[]): Promise<void> {
    await writeAtomic(this.#file, `${JSON.stringify({ version: 1, nodes }, null, 2)}\n`);
  }
}

/** @throws NodeError for an invalid node */
export function checkNode(node: Node): void {
  const read = NODE.safeParse(node);
  if (!read.success) {
    const { path, message } = read.error.issues[0] ?? { path: [], message: "wrong" };
    throw new NodeError("invalid_params", `'${path.join(".")}' is not right: ${message}.`);
  }
  if (OWN_NAMES.includes(node.name))
    throw new NodeError("invalid_params", `'${node.name}' means this device. Choose another name.`);
  try {
    sshArguments(node);
  } catch (error) {
    throw new NodeError("invalid_params", messageOf(error));
  }
}
