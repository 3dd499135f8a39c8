/** Skills in a real folder, for tests. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Environment } from "../env/environment.ts";
import { localExec } from "../env/local-exec.ts";
import { localFiles } from "../env/local-files.ts";
import type { SkillsOptions } from "../skills/load-skills.ts";

/** Paths below the folder with their texts; files in a `bin` folder are executable. */
export type Files = Record<string, string>;

export function skillFolder(files: Files = {}): SkillsOptions & { path: string } {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-skills-")));
  const [path, workspace] = [join(home, "skills"), join(home, "workspace")];
  mkdirSync(path);
  mkdirSync(workspace);
  put(path, files);
  return { path, workspace, environments: { none: localEnvironment(workspace) }, engine: "none" };
}

export function put(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, name.includes("bin/") ? 0o755 : 0o644);
  }
}

export function localEnvironment(workspace: string): Environment {
  return {
    name: "local",
    kind: "local",
    cwd: workspace,
    files: localFiles({ cwd: workspace }),
    exec: localExec(workspace),
    close: async () => {},
  };
}

/** Returns a skill.toml with one tool, whose program is `dt-NAME`. */
export function oneTool(name: string, more = "", version = "1.0.0"): string {
  return `[[tools]]\nname = "${name}"\ndescription = "Does ${name}"\n${more}\n[tools.metadata]\nversion = "${version}"\n`;
}
