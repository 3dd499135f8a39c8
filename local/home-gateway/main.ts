/**
 * The installed gateway (`edgecall gateway run`): the Worker of its folder, the door to the network, Telegram's messages.
 * Settings come from the environment, as those of `npm start`; state is in STATE_DIRECTORY.
 */
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { replaceInMemory } from "@edgecall/node/atomic-write.ts";
import { ROOT } from "@edgecall/node/places.ts";
import { claim, runsAlready } from "@edgecall/node/running.ts";
import { openNotify } from "@edgecall/node/systemd/notify.ts";
import { ERRORS_KEPT, type GatewayStatus, STATUS_FILE } from "@edgecall/node/systemd/status.ts";
import { refuseNewer, upgradeState } from "@edgecall/node/written-by.ts";
import { readBuiltGateway } from "../built-gateway.ts";
import { PLAIN_WARNING } from "../network.ts";
import { startGateway } from "../networked-gateway.ts";
import { onStop } from "../on-stop.ts";
import { readStartSettings, workerVars } from "../settings.ts";
import { makeStateFolder, stateError } from "../state-folder.ts";
import { checkTokens, loadTokens, ownTokens, rotating } from "../tokens.ts";

const { env } = process;
const dir = env.STATE_DIRECTORY;
if (!dir) fail("STATE_DIRECTORY: not set; systemd sets it for the service");
const read = readStartSettings({}, { ...env, EDGECALL_DIR: dir });
if (!read.ok) fail(read.error);
const { network, polls, port = 8787, token, copies } = read.value;

const now = () => new Date().toISOString();
const status: GatewayStatus = {
  version: VERSION,
  pid: process.pid,
  started_at: now(),
  online: false,
  since: now(),
  url: `http://127.0.0.1:${port}`,
  bots: [],
  last_errors: [],
};
const write = () => {
  if (env.RUNTIME_DIRECTORY)
    replaceInMemory(join(env.RUNTIME_DIRECTORY, STATUS_FILE), JSON.stringify(status), 0o640);
};
/** @param error appears in `edgecall gateway status` too */
const trouble = (event: string, error: string) => {
  console.error(error);
  status.last_errors = [...status.last_errors, { ts: now(), event, error }].slice(-ERRORS_KEPT);
  write();
};
const notify = openNotify(env, (error) => console.error(String(error)));

try {
  makeStateFolder(dir);
  refuseNewer(dir);
  const claimed = claim(dir, status.url);
  if (!claimed.ok) fail(runsAlready(dir, claimed.by, "StateDirectory").message);
  // Before the copy, whose error would not name the owner of what this user may not read.
  checkTokens(dir);
  // A container's own; the installer of a service makes its copy itself.
  upgradeState(dir, { copies, within: true, say: (line) => console.error(line) });
  const { connections } = loadTokens(dir, token);
  const own = ownTokens(dir, token, env);
  const gateway = await startGateway({
    port,
    network,
    polls,
    dir: join(dir, "worker"),
    ...readBuiltGateway(ROOT),
    vars: {
      CONNECTIONS_KEY: connections,
      ...workerVars(env),
      ...own.records(),
    },
    rotateOwner: rotating(own),
    say: (line) => console.error(line),
    onPolling: (bots) => {
      status.bots = bots.map(({ home, connection, problem }) => ({
        home,
        connection,
        ...(problem && { problem }),
      }));
      write();
    },
    onRestart: () => trouble("gateway.restarted", "the Workers runtime ended and was started again"),
  });
  onStop(async () => {
    notify.stopping();
    await gateway.stop();
    claimed.release();
  });
  Object.assign(status, {
    online: true,
    since: now(),
    ...(gateway.networkUrl && { network_url: gateway.networkUrl }),
  });
  write();
  console.error(`the gateway listens at ${gateway.networkUrl ?? gateway.url}`);
  if (network && !network.tls) console.error(PLAIN_WARNING);
  notify.status("online");
  notify.ready();
} catch (error) {
  const isOfSystem = error instanceof Error && "syscall" in error;
  const words = isOfSystem ? stateError(dir, error) : error;
  trouble("gateway.failed", words instanceof Error ? words.message : String(words));
  process.exit(1);
}

function fail(text: string): never {
  console.error(text);
  process.exit(2);
}
