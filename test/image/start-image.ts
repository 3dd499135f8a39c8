/** Runs an image's files by bubblewrap, without an engine. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { AS_ROOT, ROOT_ENV } from "../debian.ts";

/** The image's settings, as Docker's engine uses them. */
export type ImageConfig = {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Healthcheck?: { Test: string[] } | undefined;
};

/**
 * Like compose.yaml: as its user, without capabilities, with only /tmp and the bound folders writable.
 * @property root the image's files
 * @property args after the entrypoint, or `command` in its place
 */
export function startImage(options: {
  root: string;
  config: ImageConfig;
  args?: readonly string[];
  command?: readonly string[];
  env: Record<string, string>;
  writable?: Record<string, string>;
}): ChildProcess {
  const { root, config, args = [], command, env, writable = {} } = options;
  const [uid = "", gid = ""] = config.User.split(":");
  const files = readdirSync(root).flatMap((name) => ["--ro-bind", join(root, name), `/${name}`]);
  const own = config.Env.map((line) => line.split("="));
  const [program = "", ...before] = [...AS_ROOT, "bwrap"];
  return spawn(
    program,
    [
      ...before,
      ...["--unshare-user", "--uid", uid, "--gid", gid, "--cap-drop", "ALL"],
      ...["--unshare-pid", "--die-with-parent", "--clearenv"],
      ...files,
      ...["--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"],
      ...Object.entries(writable).flatMap(([from, to]) => ["--bind", from, to]),
      ...["--remount-ro", "/"],
      ...[...own, ...Object.entries(env)].flatMap(([name = "", value = ""]) => ["--setenv", name, value]),
      ...(command ?? [...config.Entrypoint, ...args]),
    ],
    { stdio: ["ignore", "pipe", "pipe"], env: ROOT_ENV },
  );
}
