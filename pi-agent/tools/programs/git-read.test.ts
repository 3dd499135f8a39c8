// @module-tag needs/git
// @module-tag needs/bubblewrap
/**
 * A repository can name programs, and reading it must start none of them. The test uses a real git and a program that
 * leaves a mark.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOf } from "@edgecall/core/tools/contract.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../../test/wait.ts";
import { sandbox } from "../../env/sandbox/sandbox.ts";
import { gitBranch } from "./git-branch.ts";
import { gitCommit } from "./git-commit.ts";
import { gitDiff } from "./git-diff.ts";
import { gitLog } from "./git-log.ts";
import { gitStatus } from "./git-status.ts";

let folder: string;
let ws: string;
let canary: string;

let template: string;
beforeAll(() => {
  template = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-template-")));
  gitIn(template, "init", "-q");
  for (const [text, message] of [
    ["one", "First"],
    ["two", "Second"],
  ]) {
    writeFileSync(join(template, "a.txt"), `${text}\n`);
    gitIn(template, "add", "a.txt");
    gitIn(template, "commit", "-q", "-m", String(message));
  }
});
afterAll(() => rmSync(template, { recursive: true, force: true }));

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-canary-")));
  ws = join(folder, "ws");
  cpSync(template, ws, { recursive: true, preserveTimestamps: true });
  // In the workspace, because the sandbox sees nothing else.
  canary = join(ws, "canary.sh");
  writeFileSync(canary, `#!/bin/sh\ntouch ${ws}/ran\ncat\n`, { mode: 0o755 });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const GIT_ENV = {
  PATH: process.env.PATH ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};
const WHO = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
const git = (...args: string[]) => gitIn(ws, ...args);
const gitIn = (cwd: string, ...args: string[]) =>
  execFileSync("git", [...WHO, ...args], { cwd, env: GIT_ENV, stdio: ["ignore", "pipe", "pipe"] }).toString();
const put = (name: string, text: string, mode?: number) => {
  mkdirSync(join(ws, name, ".."), { recursive: true });
  writeFileSync(join(ws, name), text, mode === undefined ? {} : { mode });
};
const config = (text: string) => appendFileSync(join(ws, ".git/config"), text);
const ran = () => existsSync(join(ws, "ran"));
/** Makes git read the file again. */
const touch = (name: string) => utimesSync(join(ws, name), new Date(1e12), new Date(1e12));
const submodule = () => {
  mkdirSync(join(ws, "sub"));
  gitIn(join(ws, "sub"), "init", "-q");
  put("sub/b.txt", "b\n");
  gitIn(join(ws, "sub"), "add", ".");
  gitIn(join(ws, "sub"), "commit", "-q", "-m", "Sub");
  git("add", "sub");
  git("commit", "-q", "-m", "With sub");
  put("sub/b.txt", "changed\n");
};

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // No process of the group is left.
  }
}

/** Ends git with all that it started: a transport's program waits on after git is gone. */
async function runUntilMark(args: string[]): Promise<void> {
  const program = spawn("git", [...WHO, ...args], {
    cwd: ws,
    env: { ...GIT_ENV, GIT_TERMINAL_PROMPT: "0" },
    stdio: "ignore",
    detached: true,
  });
  const closed = once(program, "close");
  try {
    await until(() => ran() || program.exitCode !== null);
  } finally {
    endGroup(program.pid ?? 0);
    await closed;
  }
}

async function call(name: string, args: Record<string, unknown> = {}) {
  const env = sandbox({ workspace: ws });
  const tools = [gitStatus(env), gitDiff(env), gitLog(env), gitBranch(env), gitCommit(env)];
  const caller = { principal: "test", role: "admin", channel: "test" };
  const { result } = await runTool(new ToolRegistry(tools), { callId: "c", name, args, caller });
  return { text: textOf(result), code: result.fault?.code };
}

const READS: Array<[string, Record<string, unknown>]> = [
  ["git_status", {}],
  ["git_diff", {}],
  ["git_diff", { commit: "HEAD" }],
  ["git_log", {}],
  ["git_diff", { commit: "HEAD~1..HEAD" }],
  ["git_branch", {}],
];

/** Name, content of the repository, and, if this git has one, a plain git command that does run the program. */
const VECTORS: Array<[string, () => void, string[]?]> = [
  ["core.fsmonitor", () => config(`[core]\nfsmonitor = ${canary}\n`), ["status"]],
  [
    "core.fsmonitor, included",
    () => {
      put("extra", `[core]\nfsmonitor = ${canary}\n`);
      config("[include]\npath = ../extra\n");
    },
    ["status"],
  ],
  [
    "core.fsmonitor, included for this folder",
    () => {
      put("extra", `[core]\nfsmonitor = ${canary}\n`);
      config(`[includeIf "gitdir:${ws}/"]\npath = ../extra\n`);
    },
    ["status"],
  ],
  [
    "core.fsmonitor of the worktree's settings",
    () => {
      config("[extensions]\nworktreeConfig = true\n[core]\nrepositoryformatversion = 1\n");
      put(".git/config.worktree", `[core]\nfsmonitor = ${canary}\n`);
    },
    ["status"],
  ],
  [
    "a hook after the index was written",
    () => {
      put(".git/hooks/post-index-change", `#!/bin/sh\n${canary}\n`, 0o755);
      touch("a.txt");
    },
    ["status"],
  ],
  [
    "core.hooksPath",
    () => {
      put("hooks/post-index-change", `#!/bin/sh\n${canary}\n`, 0o755);
      config("[core]\nhooksPath = hooks\n");
      touch("a.txt");
    },
    ["status"],
  ],
  [
    "diff.external",
    () => {
      config(`[diff]\nexternal = ${canary}\n`);
      put("a.txt", "three\n");
    },
    ["diff"],
  ],
  [
    "a diff driver's command",
    () => {
      config(`[diff "d"]\ncommand = ${canary}\n`);
      put(".gitattributes", "* diff=d\n");
      put("a.txt", "three\n");
    },
    ["diff"],
  ],
  [
    "a diff driver's textconv",
    () => {
      config(`[diff "d"]\ntextconv = ${canary}\n`);
      put(".gitattributes", "* diff=d\n");
      put("a.txt", "three\n");
    },
    ["diff"],
  ],
  [
    "textconv in info/attributes",
    () => {
      config(`[diff "d"]\ntextconv = ${canary}\n`);
      put(".git/info/attributes", "* diff=d\n");
    },
    ["show"],
  ],
  [
    "a clean filter",
    () => {
      config(`[filter "f"]\nclean = ${canary}\n`);
      put(".gitattributes", "* filter=f\n");
      touch("a.txt");
    },
    ["status"],
  ],
  [
    "a clean filter that is required",
    () => {
      config(`[filter "f"]\nclean = ${canary}\nrequired = true\n`);
      put(".gitattributes", "* filter=f\n");
      put("a.txt", "three\n");
    },
    ["diff"],
  ],
  [
    "a filter process",
    () => {
      config(`[filter "f"]\nprocess = ${canary}\nrequired = true\n`);
      put(".gitattributes", "* filter=f\n");
      put("a.txt", "three\n");
    },
  ],
  [
    "a filter with an odd name",
    () => {
      config(`[filter "a=b.c \\"d"]\nclean = ${canary}\n`);
      put(".gitattributes", '* "filter=a=b.c \\"d"\n* filter=a=b.c\n');
      touch("a.txt");
    },
  ],
  [
    "a smudge filter",
    () => {
      config(`[filter "f"]\nsmudge = ${canary}\n`);
      put(".gitattributes", "* filter=f\n");
      put("a.txt", "three\n");
    },
  ],
  [
    "core.attributesFile",
    () => {
      put("attributes", "* filter=f\n");
      config(`[core]\nattributesFile = ${ws}/attributes\n[filter "f"]\nclean = ${canary}\n`);
      touch("a.txt");
    },
    ["status"],
  ],
  ["core.pager", () => config(`[core]\npager = ${canary}\n`)],
  [
    "pager.log",
    () => config(`[pager]\nlog = ${canary}\nstatus = ${canary}\ndiff = ${canary}\nbranch = ${canary}\n`),
  ],
  ["interactive.diffFilter", () => config(`[interactive]\ndiffFilter = ${canary}\n`)],
  [
    "log.showSignature",
    () => {
      config(`[log]\nshowSignature = true\n[gpg]\nprogram = ${canary}\n`);
      const body = git("cat-file", "commit", "HEAD");
      const [head = "", message = ""] = body.split("\n\n");
      const signed = `${head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n${message}`;
      const id = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], {
        cwd: ws,
        env: GIT_ENV,
        input: signed,
      });
      git("reset", "-q", "--hard", id.toString().trim());
    },
    ["log"],
  ],
  [
    "gpg.format ssh",
    () =>
      config(
        `[log]\nshowSignature = true\n[gpg]\nformat = ssh\n[gpg "ssh"]\nprogram = ${canary}\nallowedSignersFile = x\n`,
      ),
  ],
  ["format.pretty with a signature", () => config(`[format]\npretty = %G? %s\n[gpg]\nprogram = ${canary}\n`)],
  [
    "an alias of a command",
    () =>
      config(
        `[alias]\nstatus = !${canary}\nlog = !${canary}\ndiff = !${canary}\nrev-parse = !${canary}\nconfig = !${canary}\n`,
      ),
  ],
  [
    "core.sshCommand",
    () =>
      config(
        `[core]\nsshCommand = ${canary}\n[remote "origin"]\nurl = ssh://x/y\nfetch = +refs/heads/*:refs/remotes/origin/*\n`,
      ),
  ],
  [
    "a missing object that a transport would bring",
    () => {
      config(
        `[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n[remote "origin"]\nurl = ext::${canary}\npromisor = true\n[protocol]\nallow = always\n`,
      );
      const blob = git("rev-parse", "HEAD:a.txt").trim();
      rmSync(join(ws, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    },
    ["show"],
  ],
  [
    "a missing object and remote.uploadpack",
    () => {
      config(
        `[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n[remote "origin"]\nurl = ${ws}\nuploadpack = ${canary}\npromisor = true\n`,
      );
      const blob = git("rev-parse", "HEAD:a.txt").trim();
      rmSync(join(ws, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    },
    ["show"],
  ],
  ["core.alternateRefsCommand", () => config(`[core]\nalternateRefsCommand = ${canary}\n`)],
  ["credential.helper", () => config(`[credential]\nhelper = !${canary}\n`)],
  [
    "core.editor, sequence.editor, core.askPass",
    () => config(`[core]\neditor = ${canary}\naskPass = ${canary}\n[sequence]\neditor = ${canary}\n`),
  ],
  [
    "a merge driver",
    () => {
      config(`[merge "m"]\ndriver = ${canary}\n[log]\ndiffMerges = remerge\n`);
      put(".gitattributes", "* merge=m\n");
    },
  ],
  [
    "trailer commands",
    () => config(`[trailer "x"]\ncommand = ${canary}\ncmd = ${canary}\nifmissing = add\n`),
  ],
  [
    "core.gitProxy, uploadpack.packObjectsHook",
    () => config(`[core]\ngitProxy = ${canary}\n[uploadpack]\npackObjectsHook = ${canary}\n`),
  ],
  [
    "difftool and mergetool",
    () =>
      config(
        `[difftool "t"]\ncmd = ${canary}\n[diff]\ntool = t\nguitool = t\n[mergetool "t"]\ncmd = ${canary}\n`,
      ),
  ],
  ["core.worktree", () => config(`[core]\nworktree = ${ws}\nfsmonitor = ${canary}\n`), ["status"]],
  [
    "a submodule's own monitor",
    () => {
      submodule();
      appendFileSync(join(ws, "sub/.git/config"), `[core]\nfsmonitor = ${canary}\n`);
    },
    ["status"],
  ],
  [
    "a submodule's own diff",
    () => {
      submodule();
      config("[diff]\nsubmodule = diff\n");
      appendFileSync(join(ws, "sub/.git/config"), `[diff]\nexternal = ${canary}\n`);
    },
    ["diff"],
  ],
  [
    "a submodule that asks to be looked into",
    () => {
      submodule();
      put(".gitmodules", '[submodule "sub"]\npath = sub\nurl = ./sub\nignore = none\n');
      config(
        `[submodule "sub"]\nignore = none\nactive = true\n[status]\nsubmoduleSummary = true\n[submodule]\nrecurse = true\n`,
      );
      appendFileSync(join(ws, "sub/.git/config"), `[core]\nfsmonitor = ${canary}\n`);
    },
    ["status"],
  ],
  [
    "a .git file that leads to another folder",
    () => {
      renameSync(join(ws, ".git"), join(ws, "store"));
      put(".git", `gitdir: ${ws}/store\n`);
      appendFileSync(join(ws, "store/config"), `[core]\nfsmonitor = ${canary}\n`);
    },
    ["status"],
  ],
  [
    "a .git that is a link",
    () => {
      renameSync(join(ws, ".git"), join(ws, "store"));
      symlinkSync("store", join(ws, ".git"));
      appendFileSync(join(ws, "store/config"), `[core]\nfsmonitor = ${canary}\n`);
    },
    ["status"],
  ],
  [
    "a worktree of a repository",
    () => {
      renameSync(join(ws, ".git"), join(ws, "store"));
      appendFileSync(join(ws, "store/config"), `[core]\nbare = true\nfsmonitor = ${canary}\n`);
      mkdirSync(join(ws, "store/worktrees/w"), { recursive: true });
      for (const [name, text] of [
        ["commondir", "../..\n"],
        ["gitdir", `${ws}/.git\n`],
        ["HEAD", "ref: refs/heads/main\n"],
      ])
        put(`store/worktrees/w/${name}`, text as string);
      put(".git", `gitdir: ${ws}/store/worktrees/w\n`);
    },
  ],
  [
    "a commondir file",
    () => {
      put("other/config", `[core]\nrepositoryformatversion = 0\nfsmonitor = ${canary}\n`);
      for (const part of ["objects", "refs"]) renameSync(join(ws, ".git", part), join(ws, "other", part));
      put(".git/commondir", "../other\n");
    },
    ["status"],
  ],
  [
    "settings in the workspace's home",
    () => {
      put(".gitconfig", `[core]\nfsmonitor = ${canary}\n`);
      put(".config/git/config", `[core]\nfsmonitor = ${canary}\n`);
      put(".config/git/attributes", "* filter=f\n");
    },
  ],
  [
    "a line break in a value",
    () => config(`[core]\nautocrlf = "false\\n[core]\\n\\tfsmonitor = ${canary}"\n`),
  ],
  [
    "a line break in a branch's remote",
    () =>
      config(`[branch "main"]\nremote = "x\\n[core]\\n\\tfsmonitor = ${canary}"\nmerge = refs/heads/main\n`),
  ],
];

describe("S4 git's reads start nothing", () => {
  test.each(VECTORS)("S4 %s", async (_, make, plain) => {
    make();
    for (const [name, args] of READS.slice(0, 4)) {
      const { code, text } = await call(name, args);
      // A read may fail in words, for example for a missing object, but it must have tried.
      expect([undefined, "exit_nonzero", "not_found"], `${name}: ${text}`).toContain(code);
      expect(ran(), `${name} ${JSON.stringify(args)}`).toBe(false);
    }
    if (!plain) return;
    // Shows that the test can fail: plain git does run the program.
    await runUntilMark(plain);
    expect(ran(), `plain git ${plain.join(" ")}`).toBe(true);
  });

  test("S4 all of them at once, for every read", async () => {
    config(
      `[core]\nfsmonitor = ${canary}\nhooksPath = hooks\n[diff]\nexternal = ${canary}\n[filter "f"]\nclean = ${canary}\n`,
    );
    put("hooks/post-index-change", `#!/bin/sh\n${canary}\n`, 0o755);
    put(".gitattributes", "* filter=f diff=d\n");
    put("a.txt", "three\n");
    for (const [name, args] of READS) {
      expect((await call(name, args)).code).toBeUndefined();
      expect(ran(), name).toBe(false);
    }
  });

  test("S4 a folder that only looks like a repository is refused", async () => {
    renameSync(join(ws, ".git"), join(folder, "store"));
    for (const part of ["objects", "refs"]) mkdirSync(join(ws, part));
    put("HEAD", "ref: refs/heads/main\n");
    put("config", `[core]\nbare = false\nworktree = .\nfsmonitor = ${canary}\nhooksPath = ${ws}\n`);
    put("pre-commit", `#!/bin/sh\n${canary}\n`, 0o755);
    for (const [name, args] of [...READS, ["git_commit", { message: "x" }] as const]) {
      expect((await call(name, args)).text).toContain("not a git repository");
      expect(ran(), name).toBe(false);
    }
  });

  test("S4 the reads give git's own facts: branch, upstream, worktree, changes, untracked files", async () => {
    git("remote", "add", "origin", "https://example.org/x.git");
    git("update-ref", "refs/remotes/origin/main", "HEAD~1");
    git("branch", "--set-upstream-to=origin/main");
    put("a.txt", "three\n");
    put("new.txt", "x");
    put(".git/info/exclude", "ran\ncanary.sh\n");
    const { text } = await call("git_status");
    expect(text).toBe("## main...origin/main [ahead 1]\n M a.txt\n?? new.txt\n");
    expect((await call("git_diff")).text).toContain("-two\n+three\n");
    expect((await call("git_diff", { commit: "HEAD@{1}" })).text).toContain("+one");
    expect((await call("git_branch")).text).toContain("remotes/origin/main");
    const linked = join(ws, "linked");
    git("worktree", "add", "-q", linked, "-b", "side");
    writeFileSync(join(linked, "a.txt"), "linked\n");
    rmSync(join(ws, "ran"), { force: true });
    const plain = gitIn(linked, "status", "--short", "--branch");
    ws = linked;
    // The sandbox sees only the workspace, so of the worktree git says only that its repository is elsewhere.
    expect(plain).toBe("## side\n M a.txt\n");
    expect((await call("git_status")).code).toBeDefined();
  });
});
