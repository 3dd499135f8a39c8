/**
 * Tools that are packages of their own, tool-browser/ and tool-mcp/: an agent that is installed without them neither stores nor
 * loads them. The agent's package.json does not name them, since npm would then install them with it. The programs that
 * `npm run build` makes contain both.
 */

export type Loaded<T> = { ok: true; module: T } | { ok: false; missing: string };

export const loadBrowserTools = () => load("tool-browser", () => import("@edgecall/tool-browser/main.ts"));
export const loadMcpTools = () => load("tool-mcp", () => import("@edgecall/tool-mcp/servers.ts"));

/** @returns the module, or which package is missing and how to install it */
async function load<T>(workspace: string, importIt: () => Promise<T>): Promise<Loaded<T>> {
  try {
    return { ok: true, module: await importIt() };
  } catch (error) {
    const name = `@edgecall/${workspace}`;
    // Any other error is a fault within the package.
    const isAbsent = error instanceof Error && error.message.startsWith(`Cannot find package '${name}'`);
    if (!isAbsent) throw error;
    const missing = `the package ${name} is not installed: npm install --workspace=${workspace}, in edgecall's folder`;
    return { ok: false, missing };
  }
}
