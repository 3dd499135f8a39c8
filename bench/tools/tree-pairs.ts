/** read, grep, find and edit on the big tree, compared with the programs that a person would use there. */
import { join } from "node:path";
import type { Environment } from "../../pi-agent/env/environment.ts";
import { local } from "../../pi-agent/env/local.ts";
import { sandbox, sandboxMissing } from "../../pi-agent/env/sandbox/sandbox.ts";
import { edit } from "../../pi-agent/tools/files/edit.ts";
import { find } from "../../pi-agent/tools/files/find.ts";
import { grep } from "../../pi-agent/tools/files/grep.ts";
import { read } from "../../pi-agent/tools/files/read.ts";
import { type BigTree, COMMON, NEEDLE } from "./big-tree.ts";
import { caller } from "./calls.ts";
import type { Pair } from "./pairs.ts";
import { plainly } from "./plain.ts";

/** The agent's environment: files directly, programs in the sandbox. Where no sandbox works, programs run without one. */
export async function agentsPlace(root: string): Promise<{ environment: Environment; sandboxed: boolean }> {
  const here = local({ cwd: root });
  if ((await sandboxMissing({ workspace: root })) !== undefined)
    return { environment: here, sandboxed: false };
  return { environment: { ...sandbox({ workspace: root }), files: here.files }, sandboxed: true };
}

/** With these, rg searches the files that our tools search: hidden ones too. The tree has neither .git nor .gitignore. */
const RG = ["--no-config", "--hidden", "--no-heading", "--line-number"];

export function treePairs(root: string, tree: BigTree, environment: Environment): Pair[] {
  const search = caller(grep(environment));
  const files = caller(find(environment));
  const see = caller(read(environment));
  const change = caller(edit(environment));
  const rg = (...args: string[]) => plainly("rg", [...RG, ...args, "."], { cwd: root, codes: [0, 1] });
  let edits = 0;
  return [
    {
      what: "grep: one match in all",
      plainly: "rg, all cores",
      times: 2,
      ours: () => search({ pattern: NEEDLE }),
      plain: () => rg(NEEDLE),
    },
    {
      what: "grep: one match in all",
      plainly: "rg --sort=path, as ours",
      times: 2,
      ours: () => search({ pattern: NEEDLE }),
      plain: () => rg("--sort=path", NEEDLE),
    },
    {
      what: "grep: the first 100 of many",
      plainly: "rg --sort=path, all",
      times: 2,
      ours: () => search({ pattern: COMMON }),
      plain: () => rg("--sort=path", COMMON),
    },
    {
      what: "grep: include *.py, none",
      plainly: "rg --sort=path -g *.py",
      times: 2,
      ours: () => search({ pattern: `${NEEDLE}s`, include: "*.py" }),
      plain: () => rg("--sort=path", "-g", "*.py", `${NEEDLE}s`),
    },
    {
      what: "find: *-42.*",
      plainly: "rg --files -g, all cores",
      times: 4,
      ours: () => files({ pattern: "*-42.*" }),
      plain: () => plainly("rg", ["--no-config", "--hidden", "--files", "-g", "*-42.*"], { cwd: root }),
    },
    {
      what: "find: *-42.*",
      plainly: "find -name",
      times: 4,
      ours: () => files({ pattern: "*-42.*" }),
      plain: () => plainly("find", [".", "-name", "*-42.*"], { cwd: root }),
    },
    {
      what: "read: a small file",
      plainly: "cat",
      times: 20,
      ours: () => see({ path: tree.small }),
      plain: () => plainly("cat", [tree.small], { cwd: root }),
    },
    {
      what: "read: the first page of 10 MB",
      plainly: "cat, all of it",
      times: 4,
      ours: () => see({ path: tree.large }),
      plain: () => plainly("cat", [tree.large], { cwd: root }),
    },
    {
      what: "read: a page near the end of 10 MB",
      plainly: "tail -n +N | head",
      times: 4,
      ours: () => see({ path: tree.large, offset: FAR_LINE, limit: 100 }),
      plain: () =>
        plainly("sh", ["-c", `tail -n +${FAR_LINE} "$0" | head -n 100`, join(root, tree.large)], {
          cwd: root,
        }),
    },
    {
      what: "edit: one place in 1 MB",
      plainly: "sed -i",
      times: 4,
      ours: () => {
        edits += 1;
        return change({
          path: tree.edited,
          old_string: edits % 2 ? "once\n" : "twice\n",
          new_string: edits % 2 ? "twice\n" : "once\n",
        });
      },
      plain: () => plainly("sed", ["-i", "s/nowhere-to-be-found/x/", tree.edited], { cwd: root }),
    },
  ];
}

/** Of the large files' 170,000 lines or so. */
const FAR_LINE = 150_000;
