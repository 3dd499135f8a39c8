/**
 * What runs beside Chromium in its sandbox: there is no network in there, and Chromium can use a proxy by TCP
 * only. The relay carries that to the one Unix socket that leads out: the guard's.
 */

/** On the sandbox's own loopback, where nothing else listens. */
export const RELAY_PORT = 3128;

/**
 * For `node -e`, with the arguments: socket, port, program and what the program is given. Plain JavaScript, since
 * nothing of this house can be read in there. Descriptors 3 and 4 are Playwright's line to the browser.
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
