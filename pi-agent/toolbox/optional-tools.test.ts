/** An agent installed without tool-browser/ and tool-mcp/: a copy of its sources with every other package beside it. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "edgecall-optional-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const SCRIPT = `
  import { loadSettings } from "./pi-agent/config/settings.ts";
  import { openToolbox } from "./pi-agent/toolbox/toolbox.ts";
  const logged = [];
  const state = { llm: undefined, limits: {}, tools: [], guides: [] };
  const { settings } = loadSettings("agent.toml", process.env);
  const toolbox = await openToolbox(settings, state, [], (level, event) => logged.push(level + " " + event));
  const { tools, unavailable } = toolbox;
  process.stdout.write(JSON.stringify({ tools: tools.map(({ name }) => name), unavailable, logged }));
  await toolbox.close();
`;

function copyWithoutThem(): void {
  const packages = join(copy, "node_modules");
  const ours = join(packages, "@edgecall");
  mkdirSync(ours, { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules")))
    if (name !== "@edgecall") symlinkSync(join(ROOT, "node_modules", name), join(packages, name));
  for (const name of ["core", "node", "pi-agent"]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    symlinkSync(join(copy, name), join(ours, name));
  }
  writeFileSync(join(copy, "package.json"), '{ "type": "module" }');
}

test("without the packages of the browser and of MCP, the agent starts and says how to install them", async () => {
  copyWithoutThem();
  writeFileSync(
    join(copy, "agent.toml"),
    'agent_id = "eye"\n[mqtt]\nurl = "mqtt://127.0.0.1:1"\n[tools]\nsandboxing = "none"\n[[mcp]]\nname = "files"\nurl = "http://127.0.0.1:1"\n',
  );
  const env = { PATH: process.env.PATH, STATE_DIRECTORY: join(copy, "state") };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--disable-warning=ExperimentalWarning", "-e", SCRIPT],
    { cwd: copy, env },
  );
  const { tools, unavailable, logged } = JSON.parse(stdout);
  expect(tools).toContain("read");
  expect(unavailable).toContainEqual({
    name: "browser",
    why: "the package @edgecall/tool-browser is not installed: npm install --workspace=tool-browser, in edgecall's folder",
  });
  expect(unavailable).toContainEqual({
    name: "files_*",
    why: "the MCP server 'files': the package @edgecall/tool-mcp is not installed: npm install --workspace=tool-mcp, in edgecall's folder",
  });
  expect(logged).toContain("error mcp.not_installed");
});
