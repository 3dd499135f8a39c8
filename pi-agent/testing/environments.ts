/** All environments of a tool, for the tests that they behave the same. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, vi } from "vitest";
import { type Environment, ExecError, FileError, type RunOptions } from "../env/environment.ts";
import { http } from "../env/http/http.ts";
import { local } from "../env/local.ts";
import { sandbox } from "../env/sandbox/sandbox.ts";
import { ssh } from "../env/ssh/ssh.ts";
import { NEEDED as NEEDED_FOR_KIND, ofKind, REMOVED } from "./sandbox-kinds.ts";
import { startServed } from "./served-files.ts";
import { type Sshd, startSshd } from "./sshd.ts";

/** Names that a shell, a program's options or a line-wise list could misread. */
export const ODD_NAMES: readonly string[] = [
  "a b",
  "new\nline",
  "ends\n",
  "it's",
  'say "x"',
  "-rf",
  "--",
  "$(id)",
  "`id`",
  "a\\b",
  "*",
  "é",
];

/** New for each test. `told.txt` in `folder` may be read, and `secret.txt` in `outside` may not. */
type Place = { folder: string; ws: string; outside: string; env: Environment };

const NEEDED: Record<string, string[]> = {
  ...NEEDED_FOR_KIND,
  sandbox: ["needs/bubblewrap"],
  ssh: ["needs/openssh-server", "needs/openssh-client"],
  http: ["needs/bubblewrap"],
};

type Make = (cwd: string, readable: string[], folder: string) => Environment | Promise<Environment>;
type Suite = (kind: string, place: () => Place) => void;

/** Runs a suite in each environment. @param place the test's own, once it has started */
export function inEveryEnvironment(suite: Suite, also?: "every kind of sandbox"): void {
  // Each needs a process, and ssh several, so a loaded machine is slow.
  vi.setConfig({ testTimeout: 60_000 });
  let sshd: Sshd;
  const made: Record<string, Make> = {
    local: (cwd, readable) => local({ cwd, readable }),
    sandbox: (workspace, readable) => sandbox({ workspace, readable }),
    ssh: (cwd, readable) => ssh({ name: "far", host: "127.0.0.1", ...sshd, cwd, readable }),
    http: async (cwd, readable) => {
      const served = await startServed({ cwd, readable });
      const far = http({ name: "far", cwd, url: served.url, token: served.token });
      const close = async () => {
        await far.close();
        await served.close();
      };
      return { ...far, close };
    },
    // The file tools do not use the other kinds.
    ...(also === "every kind of sandbox" && {
      firejail: (workspace, readable, folder) =>
        sandbox({ ...ofKind("firejail", { workspace, folder }), readable }),
      podman: (workspace, readable, folder) =>
        sandbox({ ...ofKind("podman", { workspace, folder }), readable }),
    }),
  };
  for (const [kind, make] of Object.entries(made))
    describe(kind, { tags: NEEDED[kind] ?? [] }, () => {
      if (kind === "ssh") {
        beforeAll(async () => {
          sshd = await startSshd();
        });
        afterAll(async () => await sshd.close());
      }
      let place: Place;
      beforeEach(async () => {
        place = await layOut(make);
      });
      afterEach(async () => {
        await place.env.close();
        rmSync(place.folder, REMOVED);
        // Over ssh it waits for the connection's end, which is slow on a loaded machine.
      }, 60_000);
      suite(kind, () => place);
    });
}

async function layOut(make: Make): Promise<Place> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-contract-")));
  const ws = join(folder, "ws");
  const outside = join(folder, "outside");
  mkdirSync(ws);
  mkdirSync(outside);
  writeFileSync(join(outside, "secret.txt"), "secret");
  writeFileSync(join(folder, "told.txt"), "told");
  return { folder, ws, outside, env: await make(ws, [join(folder, "told.txt")], folder) };
}

/** Returns the code of an environment's failure; of any other failure the text. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "no failure",
    (error: unknown) => (error instanceof FileError || error instanceof ExecError ? error.code : `${error}`),
  );
}

/** Runs a program and collects its output. */
export async function runIn(
  env: Environment,
  argv: [string, ...string[]],
  options: Partial<RunOptions> = {},
) {
  let stdout = "";
  let stderr = "";
  const ran = await env.exec.run(argv, {
    signal: new AbortController().signal,
    ...options,
    onOutput: (chunk, stream) => {
      if (stream === "stdout") stdout += Buffer.from(chunk).toString();
      else stderr += Buffer.from(chunk).toString();
      options.onOutput?.(chunk, stream);
    },
  });
  return { ...ran, stdout, stderr };
}
