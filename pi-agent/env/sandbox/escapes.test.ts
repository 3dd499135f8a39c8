/**
 * None of the cases that try to escape (paths, addresses) touches the host. They run with the agent's own tools, as
 * this user and, for root, as an ordinary user too. The cases of the shell are in
 * tools/programs/exec-guard-contained.test.ts, in a real sandbox.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { casesOf } from "../../testing/cases.ts";
import type { Escapes } from "../../testing/escapes-main.ts";

const PROGRAM = join(import.meta.dirname, "../../testing/escapes-main.ts");
const NODE = [process.execPath, "--disable-warning=ExperimentalWarning", PROGRAM];
const NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
const RUNNERS: Record<string, string[]> =
  process.getuid?.() === 0 ? { root: NODE, nobody: [...NOBODY, ...NODE] } : { user: NODE };

const wanted = [...casesOf("path_guard"), ...casesOf("web", "url_guard", "ip_guard")].filter(
  ({ expect: { verdict }, given }) => verdict === "blocked" && given?.race === undefined,
);

test.each(Object.entries(RUNNERS))(
  "0 of them, as %s",
  async (_who, [program = "", ...args]) => {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { ...process.env, HOME: "/nonexistent" },
    });
    const { tried, touched, control }: Escapes = JSON.parse(stdout);
    expect(tried.toSorted()).toEqual(wanted.map(({ id }) => id).toSorted());
    expect(tried.length).toBeGreaterThan(25);
    expect(touched).toEqual([]);
    expect(control).toBe(true);
  },
  60_000,
);
