/** Sets of tools for one folder of one machine. */
import { homedir } from "node:os";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { PRESETS } from "../config/preset-names.ts";
import type { Environment } from "../env/environment.ts";
import { http } from "../env/http/http.ts";
import { localFiles } from "../env/local-files.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { ssh } from "../env/ssh/ssh.ts";
import { edit } from "../tools/files/edit.ts";
import { find } from "../tools/files/find.ts";
import { grep } from "../tools/files/grep.ts";
import { READ_MAX_BYTES, READ_MAX_LINES, read } from "../tools/files/read.ts";
import { write } from "../tools/files/write.ts";
import { BASH_TIMEOUT_MS, bash } from "../tools/programs/bash.ts";

export type ToolOptions = {
  /** Absolute; absent when `environment` is given, which has its own. */
  cwd?: string;
  /** The place of files and processes; default: `sandboxed(cwd)`. The caller that makes it must close it. */
  environment?: Environment;
  /** Most bytes of text in one read, in addition to the general limit of 50 KB. */
  maxReadBytes?: number;
  maxReadLines?: number;
  bashTimeoutMs?: number;
};

/** read, bash, edit, write. @throws ExecError when there is no such folder */
export function codingTools(cwd: string): Tool[] {
  return pick(customTools({ cwd }), PRESETS.coding);
}

/** read, grep, find. @throws ExecError when there is no such folder */
export function readOnlyTools(cwd: string): Tool[] {
  return pick(customTools({ cwd }), PRESETS.read_only);
}

/** All six. @throws ExecError when there is no such folder */
export function allTools(cwd: string): Tool[] {
  return customTools({ cwd });
}

/**
 * All six on another machine, over ssh. Its host key must be in `~/.ssh/known_hosts`. For another file or port, or to close
 * the connection, pass `ssh(…)` to customTools.
 * @param cwd absolute path on that machine
 * @param name the machine's name in results
 * @param key path of the private key; `~/` is the home folder of this process's user
 * @throws ExecError for a host or user that ssh would treat as an option
 */
export function remoteTools(cwd: string, name: string, host: string, user: string, key: string): Tool[] {
  return customTools({ environment: ssh({ cwd, name, host, user, key }) });
}

/**
 * All six on another machine, through the agent there ([serve] in its agent.toml). For an authority of your own, or to close
 * the connection, pass `http(…)` to customTools.
 * @param cwd the folder that the agent there serves
 * @param name the machine's name in results
 * @param url `https://host:port`, or `http://` to this machine itself
 * @throws ExecError for an address that is not accepted
 */
export function remoteHttpTools(cwd: string, name: string, url: string, token: string): Tool[] {
  return customTools({ environment: http({ cwd, name, url, token }) });
}

/** All six, with custom limits. @throws ExecError when there is no such folder */
export function customTools({
  cwd = homedir(),
  environment = sandboxed(cwd),
  maxReadBytes = READ_MAX_BYTES,
  maxReadLines = READ_MAX_LINES,
  bashTimeoutMs = BASH_TIMEOUT_MS,
}: ToolOptions): Tool[] {
  return [
    read(environment, { maxBytes: maxReadBytes, maxLines: maxReadLines }),
    bash(environment, { timeoutMs: bashTimeoutMs }),
    edit(environment),
    write(environment),
    grep(environment),
    find(environment),
  ];
}

/**
 * This machine, with programs in the sandbox and direct access to the same files. A read or edit then needs no process, and
 * the path guard protects against programs in the sandbox.
 */
export function sandboxed(cwd: string): Environment {
  const environment = sandbox({ workspace: cwd });
  return { ...environment, files: localFiles({ cwd: environment.cwd }) };
}

function pick(tools: readonly Tool[], names: readonly string[]): Tool[] {
  return tools.filter(({ name }) => names.includes(name));
}
