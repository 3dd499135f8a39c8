/** Another machine on which the agent's tools can work: over ssh, or over HTTP through the agent there. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { messageOf } from "@edgecall/node/log.ts";
import type { Environment } from "../environment.ts";
import { http } from "../http/http.ts";
import { httpPlace } from "../http/http-place.ts";
import { lazyEnvironment } from "../lazy-environment.ts";
import { type SshOptions, sshArguments } from "../ssh/ssh-arguments.ts";

export const MAX_NODES = 32;
export const NODE_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
/** Reserved names that mean this device. */
const OWN_NAMES = ["local", "sandbox"];

const text = (max: number) => z.string().check(z.minLength(1), z.maxLength(max));
/** The fields that both kinds have, and those of each. */
export const NODE_FIELDS = {
  both: {
    name: z.string().check(z.regex(NODE_NAME, "expected 1 to 32 lower-case letters, digits, - or _")),
    /** The folder there that tools work in. */
    cwd: text(4_096),
  },
  ssh: {
    host: text(253),
    user: text(64),
    /** Path of the private key on this device. */
    key: text(4_096),
    port: z.int().check(z.minimum(1), z.maximum(65_535)),
  },
  http: {
    url: text(2_048),
    /** Paths on this device: a file with the token alone, and PEM of the authority that signed the server's certificate. */
    token_file: text(4_096),
    ca_file: z.optional(text(4_096)),
  },
} as const;

export const SshNode = z.strictObject({ ...NODE_FIELDS.both, ...NODE_FIELDS.ssh });
export type SshNode = z.output<typeof SshNode>;
const HttpNode = z.strictObject({ ...NODE_FIELDS.both, ...NODE_FIELDS.http });
type HttpNode = z.output<typeof HttpNode>;
export type Node = ({ kind: "ssh" } & SshNode) | ({ kind: "http" } & HttpNode);

/** @returns what is wrong with a node, with the field's name; undefined when it is right */
export function nodeProblem(node: Node): string | undefined {
  if (OWN_NAMES.includes(node.name)) return `'${node.name}' means this device. Choose another name.`;
  try {
    if (node.kind === "ssh") sshArguments(node);
    else httpPlace(node.url, node.name);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * The environment is loaded and connects on first use.
 * @param knownHosts the file with the host keys of ssh; absent = ssh's own
 * @throws ExecError `blocked` for a node with a problem
 */
export function openNode(node: Node, knownHosts: string | undefined): Environment {
  const { name, cwd } = node;
  if (node.kind === "ssh") {
    const options = sshOptions(node, knownHosts);
    sshArguments(options);
    return lazyEnvironment({ name, kind: "ssh", cwd }, async () =>
      (await import("../ssh/ssh.ts")).ssh(options),
    );
  }
  const { url, token_file, ca_file } = node;
  return http({ name, url, cwd, token: { file: token_file }, caFile: ca_file });
}

/** Connects once. @returns what is wrong and how to mend it; undefined when it works */
export async function nodeMissing(
  node: SshNode,
  knownHosts: string | undefined,
): Promise<string | undefined> {
  const { sshMissing } = await import("../ssh/ssh.ts");
  return await sshMissing(sshOptions(node, knownHosts));
}

function sshOptions(
  { name, host, user, key, port, cwd }: SshNode,
  knownHosts: string | undefined,
): SshOptions {
  return { name, host, user, key, port, cwd, ...(knownHosts !== undefined && { knownHosts }) };
}
