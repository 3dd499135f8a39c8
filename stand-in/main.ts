/** `node stand-in/main.ts [PORT]`: the stand-in model alone, for trying a client against it. */
import { STAND_IN_MODEL, startStandIn } from "./server.ts";

const port = Number(process.argv[2] ?? 0);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error("usage: node stand-in/main.ts [PORT]   (PORT from 0 to 65535; 0 or none = any free one)");
  process.exit(2);
}
const { baseUrl } = await startStandIn({ port });
console.log(`LLM_BASE_URL=${baseUrl} LLM_MODEL=${STAND_IN_MODEL}   (matches words; not a language model)`);
