import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withProgramCheck } from "./absent-programs.ts";
import { cleanEnv } from "./clean-env.ts";
import type { ExecOps } from "./environment.ts";
import { localExec } from "./local-exec.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-absent-"));
const signal = AbortSignal.timeout(10_000);

function started(): { exec: ExecOps; programs: string[] } {
  const programs: string[] = [];
  const here = localExec(folder);
  return {
    programs,
    exec: withProgramCheck({
      run(argv, options) {
        programs.push(argv[0]);
        return here.run(argv, options);
      },
    }),
  };
}

test("a program in no folder of PATH is not started, with the error of a failed start", async () => {
  const { exec, programs } = started();
  const words = localExec(folder)
    .run(["no-such-program-here"], { signal })
    .catch((error: unknown) => error);
  const refused = exec.run(["no-such-program-here"], { signal }).catch((error: unknown) => error);
  expect(await refused).toMatchObject({ name: "ExecError", code: "spawn_failed" });
  expect(String(await refused)).toBe(String(await words));
  expect(programs).toEqual([]);
});

test("an existing program is started, by its name or its path", async () => {
  const { exec, programs } = started();
  expect((await exec.run(["true"], { signal })).exitCode).toBe(0);
  expect((await exec.run(["/bin/sh", "-c", "exit 3"], { signal })).exitCode).toBe(3);
  expect(programs).toEqual(["true", "/bin/sh"]);
});

test("a file without the execute bit is no program", async () => {
  const file = join(folder, "a-program");
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o644);
  const exec = withProgramCheck(localExec(folder), `${cleanEnv().PATH}:${folder}`);
  await expect(exec.run(["a-program"], { signal })).rejects.toMatchObject({ code: "spawn_failed" });
});
