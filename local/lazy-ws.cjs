// `ws`, read when somebody first asks for it: of what runs on a device only the bridge does (local/bundles.ts).
const ws = () => require("../node_modules/ws/index.js");
module.exports = {
  __esModule: true,
  get default() {
    return ws();
  },
  get WebSocket() {
    return ws().WebSocket;
  },
};
