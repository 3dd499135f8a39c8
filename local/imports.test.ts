import { expect, test } from "vitest";
import { findCircles, findFolderCircles, findForbidden, type Imports, importedPaths } from "./imports.ts";

/** @param sources path → text */
const importsOf = (sources: Record<string, string>): Imports =>
  new Map(Object.entries(sources).map(([path, text]) => [path, importedPaths(path, text)]));

test("each form of import is read", () => {
  const text = `
    import "./a.ts";
    import type { B } from "../b.ts";
    import {
      c,
    } from "@edgecall/core/c.ts";
    export * from "./d.ts";
    type E = import("./e.ts").E;
    const f = await import("./f.ts");
    import { join } from "node:path";
  `;
  expect(importedPaths("worker/home/x.ts", text)).toEqual([
    "worker/home/a.ts",
    "worker/b.ts",
    "core/c.ts",
    "worker/home/d.ts",
    "worker/home/e.ts",
    "worker/home/f.ts",
  ]);
});

test("a circle of type imports alone is found, and a file that only leads to it is not part of it", () => {
  const imports = importsOf({
    "core/leads.ts": `import { a } from "./a.ts";`,
    "core/a.ts": `import type { B } from "./b.ts";`,
    "core/b.ts": `import type { C } from "./c.ts"; import "./leaf.ts";`,
    "core/c.ts": `export type { A } from "@edgecall/core/a.ts";`,
    "core/leaf.ts": "",
    "core/self.ts": `type Self = typeof import("./self.ts");`,
  });
  expect(findCircles(imports)).toEqual([["core/a.ts", "core/b.ts", "core/c.ts"], ["core/self.ts"]]);
});

test("a circle of folders is found, though no file imports itself through others, and its arrows are named", () => {
  const imports = importsOf({
    "core/text/a.ts": `import type { B } from "../tools/deep/b.ts";`,
    "core/text/base.ts": "",
    "core/tools/deep/b.ts": "",
    "core/tools/c.ts": `import "../text/base.ts";`,
    "core/leads.ts": `import "./text/a.ts";`,
  });
  expect(findCircles(imports)).toEqual([]);
  expect(findFolderCircles(imports, ["core"])).toEqual([
    [
      "core/text → core/tools, as core/text/a.ts → core/tools/deep/b.ts",
      "core/tools → core/text, as core/tools/c.ts → core/text/base.ts",
    ],
  ]);
  expect(findFolderCircles(imports, ["worker"])).toEqual([]);
});

test("a file beside a folder is above or below it: two files may be both, one may not", () => {
  const above = { "cli/main.ts": `import "./agent/a.ts"; import "./settings.ts";`, "cli/settings.ts": "" };
  const folder = { "cli/agent/a.ts": `import "../settings.ts"; import "@edgecall/cli/agent/b.ts";` };
  expect(findFolderCircles(importsOf({ ...above, ...folder, "cli/agent/b.ts": "" }), ["cli"])).toEqual([]);
  const back = { "cli/agent/b.ts": `import type { Main } from "../main.ts";` };
  expect(findFolderCircles(importsOf({ ...above, ...folder, ...back }), ["cli"])).toEqual([
    [
      "cli/agent → cli/main.ts, as cli/agent/b.ts → cli/main.ts",
      "cli/main.ts → cli/agent, as cli/main.ts → cli/agent/a.ts",
    ],
  ]);
});

test("subfolders of one folder make a circle too, and files alone are none of folders", () => {
  const imports = importsOf({
    "bridge/devices/a/a.ts": `import "../b/b.ts";`,
    "bridge/devices/b/b.ts": "",
    "bridge/devices/b/c.ts": `import "../a/d.ts";`,
    "bridge/devices/a/d.ts": "",
    "bridge/e.ts": `import "./f.ts"; import "@edgecall/node/log.ts";`,
    "bridge/f.ts": `import "./e.ts";`,
    "node/log.ts": `import "@edgecall/bridge/e.ts";`,
  });
  expect(findFolderCircles(imports, ["bridge", "node"])).toEqual([
    [
      "bridge/devices/a → bridge/devices/b, as bridge/devices/a/a.ts → bridge/devices/b/b.ts",
      "bridge/devices/b → bridge/devices/a, as bridge/devices/b/c.ts → bridge/devices/a/d.ts",
    ],
  ]);
});

test("an import of another program's folder is found, unless it is allowed", () => {
  const imports = importsOf({
    "core/loop/a.ts": `import type { Env } from "../../worker/kernel/env.ts";`,
    "worker/a.ts": `import "@edgecall/core/loop/a.ts"; import "./env.ts"; import "@edgecall/bridge/log.ts";`,
    "cli/a.ts": `import "@edgecall/pi-agent/run.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "core/loop/a.ts → worker/kernel/env.ts",
    "worker/a.ts → bridge/log.ts",
  ]);
});

test("within the Worker, imports go from the lists to features to the kernel, and no feature imports another", () => {
  const imports = importsOf({
    "worker/home.ts": `import "./features/rules/home/feature.ts"; import "./kernel/home/home.ts";`,
    "worker/features/rules/home/feature.ts": `import "./store.ts"; import "../../push/home/store.ts"; import "../../../home.ts";`,
    "worker/features/rules/home/store.ts": `import "../../../kernel/home/slot.ts"; import "../../../kernel/conversation/a.ts";`,
    "worker/features/rules/conversation/a.ts": `import "../../../kernel/home/slot.ts";`,
    "worker/features/mcp/routes.ts": `import "../../kernel/http/auth.ts"; import type { A } from "../openai/a.ts";`,
    "worker/kernel/home/a.ts": `import type { Rules } from "../../features/rules/home/store.ts"; import "../conversation/a.ts";`,
    "worker/kernel/conversation/a.ts": `import "../api/stubs.ts"; import type { Home } from "../../home.ts"; import "../http/auth.ts";`,
    "worker/kernel/routes/a.ts": `import "../http/auth.ts"; import "../conversation/a.ts";`,
    "worker/kernel/http/auth.ts": `import "../api/stubs.ts"; import "../routes/a.ts"; import type { Home } from "../home/home.ts";`,
    "worker/kernel/api/stubs.ts": `import type { Env } from "../env.ts"; import type { Call } from "../home/calls/ledger.ts";`,
    "worker/kernel/settings/a.ts": `import "../env.ts"; import "../api/stubs.ts";`,
    "worker/kernel/env.ts": `import type { Role } from "./settings/channels.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/features/rules/home/feature.ts → worker/features/push/home/store.ts",
    "worker/features/rules/home/feature.ts → worker/home.ts",
    "worker/features/rules/home/store.ts → worker/kernel/conversation/a.ts",
    "worker/features/rules/conversation/a.ts → worker/kernel/home/slot.ts",
    "worker/features/mcp/routes.ts → worker/features/openai/a.ts",
    "worker/kernel/home/a.ts → worker/features/rules/home/store.ts",
    "worker/kernel/home/a.ts → worker/kernel/conversation/a.ts",
    "worker/kernel/conversation/a.ts → worker/home.ts",
    "worker/kernel/conversation/a.ts → worker/kernel/http/auth.ts",
    "worker/kernel/routes/a.ts → worker/kernel/conversation/a.ts",
    "worker/kernel/http/auth.ts → worker/kernel/routes/a.ts",
    "worker/kernel/http/auth.ts → worker/kernel/home/home.ts",
    "worker/kernel/api/stubs.ts → worker/kernel/home/calls/ledger.ts",
    "worker/kernel/settings/a.ts → worker/kernel/api/stubs.ts",
    "worker/kernel/env.ts → worker/kernel/settings/channels.ts",
  ]);
});

test("only one source of the agent imports the optional tools, which import the agent", () => {
  const imports = importsOf({
    "pi-agent/toolbox/optional-tools.ts": `const tools = await import("@edgecall/tool-mcp/servers.ts");`,
    "pi-agent/toolbox/mcp.ts": `import type { McpServers } from "@edgecall/tool-mcp/servers.ts";`,
    "tool-mcp/servers.ts": `import type { ExecOps } from "@edgecall/pi-agent/env/environment.ts";`,
  });
  expect(findForbidden(imports)).toEqual(["pi-agent/toolbox/mcp.ts → tool-mcp/servers.ts"]);
});

test("the console's page imports the client and nothing of the Worker, which does not import the client", () => {
  const imports = importsOf({
    "worker/features/console/page/api.ts": `import "@edgecall/client/client.ts"; import "./load.tsx";`,
    "worker/features/console/page/chat.tsx": `import type { A } from "../../../kernel/api/answers.ts"; import "../routes.ts";`,
    "worker/kernel/routes/a.ts": `import type { Routes } from "@edgecall/client/routes.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/features/console/page/chat.tsx → worker/kernel/api/answers.ts",
    "worker/features/console/page/chat.tsx → worker/features/console/routes.ts",
    "worker/kernel/routes/a.ts → client/routes.ts",
  ]);
});
