/**
 * Makes the environment of a program that a tool starts, from an allow-list. This process's own variables (model keys,
 * tokens, loader settings) are not passed on.
 */
import { isAbsolute } from "node:path";
import { ExecError } from "./environment.ts";

/** The usual program folders of Linux, used when this process's own PATH has no absolute folder. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Each of these makes a harmless program run code of the caller's choice (openclaw #4896, #91618). */
const REFUSED = [
  /^LD_/,
  /^DYLD_/,
  /^BASH_/,
  /^ENV$/,
  /^IFS$/,
  /^PS4$/,
  /^PROMPT_COMMAND$/,
  /^SHELLOPTS$/,
  /^PATH$/,
  /^NODE_/,
  /^PYTHON/,
  /^PERL/,
  /^RUBY/,
  /^GIT_/,
  /^SSH_/,
  /^GCONV_PATH$/,
  /^(PAGER|EDITOR|VISUAL|BROWSER)$/,
];
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** @throws ExecError `blocked`, naming the variable, when it changes how programs load or start */
export function refuseEnv(env: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(env)) {
    if (!NAME.test(name))
      throw new ExecError("blocked", `The environment variable '${name.slice(0, 128)}' has no valid name.`);
    if (REFUSED.some((pattern) => pattern.test(name)))
      throw new ExecError(
        "blocked",
        `The environment variable '${name}' may not be set: it changes how programs are found or loaded.`,
      );
    if (value.includes("\0"))
      throw new ExecError("blocked", `The environment variable '${name}' has a NUL in it.`);
  }
}

/**
 * @param env added to the allowed variables, after `refuseEnv`
 * @param own this process's environment, from which only five variables are taken
 */
export function cleanEnv(
  env: Readonly<Record<string, string>> = {},
  own: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  refuseEnv(env);
  // A relative folder in PATH would run files from the workspace.
  const path = (own.PATH ?? "").split(":").filter(isAbsolute).join(":");
  return {
    PATH: path || SYSTEM_PATH,
    HOME: own.HOME ?? "/",
    LANG: own.LANG ?? "C.UTF-8",
    TERM: "dumb",
    ...(own.TZ !== undefined && { TZ: own.TZ }),
    ...env,
  };
}
