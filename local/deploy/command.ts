/** `edgecall deploy`, and `npm run deploy` of a checkout: deploys the gateway to Cloudflare, or upgrades it. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtGatewayFolder, WRANGLER_TOML } from "@edgecall/node/places.ts";
import { type BuiltGateway, readBuiltGateway } from "../built-gateway.ts";
import { deploy as runSteps } from "./deploy.ts";
import { type DeployFlags, FLAGS, readOptions, SWITCHES } from "./options.ts";
import { DeployQuestions } from "./questions.ts";
import { writeWorkerFolder } from "./worker-folder.ts";
import { Wrangler } from "./wrangler.ts";
import { wranglerFile } from "./wrangler-file.ts";

/** The part of a command of `edgecall` that this needs (cli/command.ts). */
type DeployCall = {
  text(option: string): string | undefined;
  flag(option: string): boolean;
  env: Readonly<Record<string, string | undefined>>;
};

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** @returns the exit code */
export async function deploy({ text, flag, env }: DeployCall): Promise<number> {
  const flags: DeployFlags = {
    ...Object.fromEntries(FLAGS.map((name) => [name, text(name)])),
    ...Object.fromEntries(SWITCHES.map((name) => [name, flag(name)])),
  };
  const options = readOptions(flags, env, process.stdin.isTTY && process.stderr.isTTY);
  if (!options.ok) {
    console.error(`${options.error}\nedgecall deploy --help tells more`);
    return EXIT_USAGE;
  }
  const say = (line: string) => console.error(line);
  const questions = new DeployQuestions(say);
  const folder = await mkdtemp(join(tmpdir(), "edgecall-deploy-"));
  try {
    const program = await wranglerFile(env, { say, ask: options.value.quiet ? undefined : questions });
    await writeWorkerFolder(folder, await gatewayToDeploy(env), await readFile(WRANGLER_TOML, "utf8"));
    await runSteps({
      options: options.value,
      wrangler: new Wrangler({ env, program, folder, account: options.value.account }),
      questions,
      say,
      show: (text) => text !== "" && console.log(text),
    });
    return 0;
  } catch (error) {
    console.error(`Not deployed: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT_FAILED;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function gatewayToDeploy(env: DeployCall["env"]): Promise<BuiltGateway> {
  const built = builtGatewayFolder({ ...env, EDGECALL_BUILT: undefined });
  return built === undefined
    ? await (await import("../build-gateway.ts")).buildToShip()
    : readBuiltGateway(built);
}
