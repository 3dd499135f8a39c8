/** The screens that are a script of their own, so that the page's first script stays small. */
export { Audit } from "./audit.tsx";
export { BrokerDevices } from "./broker-devices.tsx";
export { Metrics } from "./metrics.tsx";
export { Rules } from "./rules.tsx";
