/**
 * Makes the folder for Cloudflare's deploy button. It must be complete in itself, which a workspace is not. `npm run build`
 * makes it from the same sources as any deploy.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse as parseToml, stringify as toToml } from "smol-toml";
import { bundleWorker } from "./bundles.ts";
import { consoleFiles } from "./console-files.ts";
import { buildDeviceFiles, servedProgram } from "./device-files.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The text of the button's form beside each secret. The gateway refuses the form's placeholder values. */
export const SECRETS = {
  API_TOKENS: {
    example: "leave this as it is, and open /tokens of the gateway once it is deployed",
    description:
      "Who may ask. Leave it as it is: once the gateway is deployed, its page /tokens makes tokens in your browser and says where to put them. (With a terminal: `npm run tokens` in edgecall's repository.)",
  },
  BRIDGE_TOKENS: {
    example: "leave this as it is, too",
    description: "Which bridges may dial in. Leave it as it is, too: the same page makes both.",
  },
} as const;

/** @param dir created if missing; its files are replaced */
export async function writeDeployButton(dir: string): Promise<void> {
  const devices = await buildDeviceFiles();
  const [code, page, wranglerToml, rootPackage] = await Promise.all([
    bundleWorker({ minify: true, program: servedProgram(devices.program) }),
    consoleFiles(join(ROOT, "worker/features/console/public"), devices),
    readFile(join(ROOT, "wrangler.toml"), "utf8"),
    readFile(join(ROOT, "package.json"), "utf8"),
  ]);
  const files: Record<string, string | Uint8Array> = {
    "index.js": code,
    "wrangler.toml": standingAlone(wranglerToml),
    "package.json": `${JSON.stringify(packageJson(JSON.parse(rootPackage)), null, 2)}\n`,
    ".dev.vars.example": Object.entries(SECRETS)
      .map(([name, { example }]) => `${name}="${example}"\n`)
      .join(""),
    "README.md": README,
  };
  for (const [path, { type, body }] of page) {
    const name = path === "/" ? "/index" : path;
    files[`public${name}${type.startsWith("text/html") ? ".html" : ""}`] = await body();
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
  }
}

function standingAlone(wranglerToml: string): string {
  const { build: _, alias: __, ...config } = parseToml(wranglerToml);
  const assets = { ...(config.assets as object), directory: "public" };
  return toToml({ ...config, main: "index.js", no_bundle: true, assets });
}

function packageJson(root: { version: string; license: string; devDependencies: Record<string, string> }) {
  const bindings = Object.entries(SECRETS).map(([name, { description }]) => [name, { description }]);
  return {
    name: "edgecall-gateway",
    version: root.version,
    private: true,
    license: root.license,
    type: "module",
    scripts: { deploy: "wrangler deploy" },
    devDependencies: { wrangler: root.devDependencies.wrangler },
    cloudflare: {
      bindings: {
        ...Object.fromEntries(bindings),
        AI: {
          description: "Workers AI answers where no other model is configured; billed beyond its free share.",
        },
      },
    },
  };
}

const README = `# edgecall's gateway

Made by \`npm run build\` in edgecall's repository, for Cloudflare's deploy button; \`npm install && npx wrangler deploy\` works
as well. Put it into a public repository of yours and open

    https://deploy.workers.cloudflare.com/?url=https://github.com/YOU/THIS-REPOSITORY

Leave the two secrets as they are in the form. When it is deployed, open /tokens at the gateway's address (Cloudflare shows it, it
ends in workers.dev): the page makes your tokens and says where to put them. Until then the gateway refuses everybody.
`;
