#!/usr/bin/env node
// Old syntax alone, so that an old Node reads as far as the message.
var wanted = require("../package.json").engines.node.replace(/\D/g, "");
if (Number(process.versions.node.split(".")[0]) < Number(wanted)) {
  console.error(
    "edgecall needs Node " +
      wanted +
      " or newer; this is Node " +
      process.versions.node +
      " (" +
      process.execPath +
      ").",
  );
  process.exit(1);
}
require("../dist/edgecall.cjs");
