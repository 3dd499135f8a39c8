import type { NetworkInterfaceInfo } from "node:os";
import { expect, test } from "vitest";
import { ownAddress } from "./own-address.ts";

const address = (text: string, more: Partial<NetworkInterfaceInfo> = {}) =>
  ({ address: text, family: "IPv4", internal: false, ...more }) as NetworkInterfaceInfo;
const INTERFACES = {
  lo: [address("127.0.0.1", { internal: true })],
  docker0: [address("172.17.0.1")],
  eth0: [address("fe80::1", { family: "IPv6" }), address("192.168.1.5")],
};

test("the address of the outgoing route, before others of this machine", () => {
  expect(ownAddress(INTERFACES, "eth0")).toBe("192.168.1.5");
  expect(ownAddress(INTERFACES, "wlan0")).toBe("172.17.0.1");
});

test("without a network there is none", () => {
  expect(ownAddress({ lo: INTERFACES.lo }, "eth0")).toBeUndefined();
});
