import { expect, test } from "vitest";
import { findCircles, findForbidden, type Imports, importedPaths } from "./imports.ts";

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

test("within the Worker, imports go one way, and no front door imports another", () => {
  const imports = importsOf({
    "worker/index.ts": `import "./routes/a.ts"; import "./frontends/mcp/a.ts"; import "./home/home.ts";`,
    "worker/routes/a.ts": `import "../http/auth.ts"; import "../frontends/mcp/a.ts"; import "../conversation/a.ts";`,
    "worker/kernel/http/auth.ts": `import "../api/stubs.ts"; import "../routes/a.ts"; import type { Home } from "../home/home.ts";`,
    "worker/kernel/api/stubs.ts": `import type { Env } from "../env.ts"; import type { Call } from "../home/calls/ledger.ts";`,
    "worker/kernel/env.ts": `import type { Role } from "./settings/channels.ts";`,
    "worker/frontends/mcp/a.ts": `import "./b.ts"; import "../../http/auth.ts"; import "../openai/a.ts";`,
    "worker/channels/a.ts": `import "../api/stubs.ts"; import "../http/auth.ts";`,
    "worker/home/a.ts": `import "../channels/a.ts"; import "../conversation/a.ts"; import "../frontends/mcp/a.ts";`,
    "worker/conversation/a.ts": `import "../api/stubs.ts"; import "../home/a.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/routes/a.ts → worker/frontends/mcp/a.ts",
    "worker/routes/a.ts → worker/conversation/a.ts",
    "worker/kernel/http/auth.ts → worker/routes/a.ts",
    "worker/kernel/http/auth.ts → worker/kernel/home/home.ts",
    "worker/kernel/api/stubs.ts → worker/kernel/home/calls/ledger.ts",
    "worker/kernel/env.ts → worker/features/chat/settings.ts",
    "worker/frontends/mcp/a.ts → worker/frontends/openai/a.ts",
    "worker/channels/a.ts → worker/kernel/http/auth.ts",
    "worker/home/a.ts → worker/conversation/a.ts",
    "worker/home/a.ts → worker/frontends/mcp/a.ts",
    "worker/conversation/a.ts → worker/home/a.ts",
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
    "worker/features/console/page/chat.tsx": `import type { A } from "../../../api/answers.ts"; import "../routes.ts";`,
    "worker/routes/a.ts": `import type { Routes } from "@edgecall/client/routes.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/features/console/page/chat.tsx → worker/kernel/api/answers.ts",
    "worker/features/console/page/chat.tsx → worker/features/console/routes.ts",
    "worker/routes/a.ts → client/routes.ts",
  ]);
});
