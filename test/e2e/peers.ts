/**
 * Programs of this machine that some tests need: each value is undefined when its program is there, or says what is
 * missing.
 */
import { sandbox, sandboxMissing } from "../../pi-agent/env/sandbox/sandbox.ts";
import { gitMissing } from "../../pi-agent/tools/programs/git-run.ts";

const options = { workspace: import.meta.dirname };

const noSandbox = await sandboxMissing(options);
export const noGit = noSandbox ?? (await gitMissing(sandbox(options)));
