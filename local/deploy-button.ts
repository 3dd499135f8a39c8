/**
 * Makes the folder for Cloudflare's deploy button. It must be complete in itself, which a workspace is not. `npm run build`
 * makes it from the same sources as any deploy.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, WRANGLER_TOML } from "@edgecall/node/places.ts";
import { buildToShip } from "./build-gateway.ts";
import { writeFiles, writeWorkerFolder } from "./deploy/worker-folder.ts";

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
  const [gateway, wranglerToml, rootPackage] = await Promise.all([
    buildToShip(),
    readFile(WRANGLER_TOML, "utf8"),
    readFile(join(ROOT, "package.json"), "utf8"),
  ]);
  await writeWorkerFolder(dir, gateway, wranglerToml);
  await writeFiles(dir, {
    "package.json": `${JSON.stringify(packageJson(JSON.parse(rootPackage)), null, 2)}\n`,
    ".dev.vars.example": Object.entries(SECRETS)
      .map(([name, { example }]) => `${name}="${example}"\n`)
      .join(""),
    "README.md": README,
  });
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
