/**
 * A relay that runs beside Chromium in its sandbox. The sandbox has no network, and Chromium supports only proxies over TCP,
 * so the relay forwards TCP to the guard's Unix socket, the only way out.
 */

/** A port on the sandbox's own loopback, where nothing else listens. */
export const RELAY_PORT = 3128;

/**
 * A script for `node -e` with the arguments: socket, port, program, and the program's arguments. It is plain JavaScript
 * because the sandbox cannot read our modules. Descriptors 3 and 4 connect Playwright with the browser.
 */
export const RELAY_SCRIPT = `
const { connect, createServer } = require("node:net");
const { spawn } = require("node:child_process");
const { pipeline } = require("node:stream");
const [socket, port, program, ...rest] = process.argv.slice(1);
const server = createServer((near) => {
  const far = connect(socket);
  pipeline(near, far, near, () => {});
});
server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(program, rest, { stdio: [0, 1, 2, 3, 4] });
  child.on("error", (error) => {
    console.error(error.message);
    process.exit(127);
  });
  child.on("exit", (code) => process.exit(code ?? 1));
});
`;
