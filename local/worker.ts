/**
 * `npm run worker`: the Worker alone, in the foreground.
 *
 * Settings: PORT (8787), EDGECALL_DIR (places.ts), HOST, TLS_* and TELEGRAM_POLLING (network.ts), and the Worker's own variables and
 * secrets, passed on from the environment. A checkout builds the Worker here, unless EDGECALL_BUILT names a folder with it.
 * Under the one-machine stack it also ends when its parent does.
 */
import { join } from "node:path";
import { builtGatewayFolder, stateFolder } from "@edgecall/node/places.ts";
import { claim, runsAlready } from "@edgecall/node/running.ts";
import { refuseNewer, upgradeState } from "@edgecall/node/written-by.ts";
import { readBuiltGateway } from "./built-gateway.ts";
import { readNetwork, readPolling } from "./network.ts";
import { startGateway } from "./networked-gateway.ts";
import { onStop } from "./on-stop.ts";
import { readPort, workerVars } from "./settings.ts";
import { makeStateFolder } from "./state-folder.ts";
import { ownTokens, rotating } from "./tokens.ts";

const port = readPort(process.env.PORT, 8787);
if (!port.ok) {
  console.error(port.error);
  process.exit(2);
}
const network = readNetwork(process.env);
if (!network.ok) {
  console.error(network.error);
  process.exit(2);
}
// Alone it is a part of something else, which may bring webhooks.
const polls = readPolling(process.env, false);
if (!polls.ok) {
  console.error(polls.error);
  process.exit(2);
}
const vars = workerVars(process.env);
if (!process.send) {
  for (const name of ["API_TOKENS", "BRIDGE_TOKENS", "LLM_BASE_URL", "LLM_MODEL"]) {
    if (!vars[name]) console.error(`${name}: not set; docs/reference/settings.md tells what it is for`);
  }
}
const dir = stateFolder(process.env);
// The stack has claimed the folder for its Worker.
const claimed = process.send ? undefined : claimFolder();
// Under the stack, which has made the tokens.
const own =
  process.env.OWN_TOKENS === "yes"
    ? ownTokens(dir, process.env.EDGECALL_TOKEN || undefined, process.env)
    : undefined;
const built = builtGatewayFolder(process.env);
const starting = startGateway({
  port: port.value,
  network: network.value,
  polls: polls.value,
  say: (line) => console.error(line),
  dir: join(dir, "worker"),
  ...(built !== undefined && readBuiltGateway(built)),
  vars: { ...vars, ...own?.records() },
  rotateOwner: own && rotating(own),
  onRestart: () => console.error("the Workers runtime ended and was started again"),
});
// Until it is up, ending this process is enough, because Miniflare kills its workerd at exit.
process.once("disconnect", () => process.exit(0));
try {
  const gateway = await starting;
  // Miniflare would exit at a signal before its workerd is gone, so this waits for it.
  for (const event of ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"]) process.removeAllListeners(event);
  onStop(() => gateway.stop().finally(() => claimed?.release()));
  if (built === undefined) await (await import("./build-gateway.ts")).stopBuilding();
  process.send?.({ ready: true, url: gateway.url });
  console.error(`the Worker listens at ${gateway.url}`);
} catch (error) {
  console.error(`the Worker could not start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

function claimFolder() {
  try {
    makeStateFolder(dir);
    refuseNewer(dir);
    const claimed = claim(dir, `http://127.0.0.1:${port.ok ? port.value : 0}`);
    if (!claimed.ok) throw runsAlready(dir, claimed.by, "EDGECALL_DIR and PORT");
    upgradeState(dir, {
      copies: process.env.UPGRADE_COPY !== "no",
      say: (line) => console.error(line),
    });
    return claimed;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
