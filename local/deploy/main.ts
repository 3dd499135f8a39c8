/** `npm run deploy`: deploys the gateway to Cloudflare, or upgrades it. */
import { deploy } from "./deploy.ts";
import { readOptions, USAGE } from "./options.ts";
import { DeployQuestions } from "./questions.ts";
import { Wrangler } from "./wrangler.ts";

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  console.log(USAGE);
  process.exit(0);
}
const options = readOptions(args, process.env, process.stdin.isTTY && process.stderr.isTTY);
if (!options.ok) {
  console.error(`${options.error}\n\n${USAGE}`);
  process.exit(2);
}
const say = (line: string) => console.error(line);
try {
  await deploy({
    options: options.value,
    wrangler: new Wrangler(process.env, options.value.account),
    questions: new DeployQuestions(say),
    say,
    show: (text) => text !== "" && console.log(text),
  });
} catch (error) {
  console.error(`Not deployed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
