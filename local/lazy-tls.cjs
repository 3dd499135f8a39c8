// `tls`, loaded when mqtt.js first connects by it: a broker in the home seldom asks for it (local/bundles.ts).
module.exports = {
  __esModule: true,
  connect: (...args) => require("node:tls").connect(...args),
  get default() {
    return require("node:tls");
  },
};
